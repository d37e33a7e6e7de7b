/** Machines whose agent was replaced by root: its ports are taken over, and answer as a test says. */
import type { MicrovmSandbox } from "../../src/sandbox/microvm/sandbox.js";

/** Takes the agent's ports out of its hands (pidfd_getfd) and stops it; then does as its arguments say. */
const program = `import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
def syscall(*arguments):
  result = libc.syscall(*arguments)
  if result < 0: raise OSError(ctypes.get_errno(), arguments)
  return result
PIDFD_OPEN, PIDFD_GETFD, SIGSTOP, FINAL = 434, 438, 19, 1
def is_agent(pid):
  try: return open(f"/proc/{pid}/oom_score_adj").read().strip() == "-1000"
  except OSError: return False
agent = next(int(pid) for pid in os.listdir("/proc") if pid.isdigit() and is_agent(pid))
handle, ports = syscall(PIDFD_OPEN, agent, 0), {}
for fd in os.listdir(f"/proc/{agent}/fd"):
  name = os.readlink(f"/proc/{agent}/fd/{fd}")
  if name.startswith("/dev/vport"): ports[name] = syscall(PIDFD_GETFD, handle, int(fd), 0)
os.kill(agent, SIGSTOP)
port = ports["/dev/vport0p1"]
os.set_blocking(port, True)

def write(data):
  while data: data = data[os.write(port, data[:32768]):]
def frame(stream, kind, flags=0, op=0, credit=0, payload=b""):
  return struct.pack("<IIBBHI", len(payload), stream, kind, flags, op, credit) + payload
def read(size):
  data = b""
  while len(data) < size: data += os.read(port, size - len(data))
  return data
def request():
  length, stream, kind, flags, op, credit = struct.unpack("<IIBBHI", read(16))
  return stream, kind, op, read(length)
def text(value): return bytes([0xa0 | len(value)]) + value.encode()
def binary(value): return b"\\xc4" + bytes([len(value)]) + value
def acknowledgement(generation, sample):
  return (b"\\x84" + text("generation") + binary(generation) + text("sample") + binary(sample)
    + text("network") + text("absent") + text("notified") + b"\\x00")
`;

/**
 * Runs \`script\` in place of the agent: Python that has \`write\`, \`frame\`, \`request\` and \`acknowledgement\`. When this resolves it waits for its
 * first frame, so that the machine can be frozen.
 */
export async function replaceAgent(machine: MicrovmSandbox, script: string): Promise<void> {
  await machine.writeFile("/root/agent.py", program + script, { user: "root" });
  const start = "(sleep 0.2; exec python3 /root/agent.py) > /root/log 2>&1 &";
  await machine.exec({ argv: ["sh", "-c", start], user: "root" });
  await machine.native.run({ maxGuestMs: 2000 });
}
