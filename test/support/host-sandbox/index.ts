/**
 * A `Sandbox` on the host, for tests that need hands and eyes but no machine. What it is: a temporary folder that is
 * mounted over /home, /tmp, /srv, /opt and /var in a mount and process namespace of its own, so that commands see
 * guest paths and only each other. What it fakes, and how:
 *
 * - users: there is one, called agent, which may do everything; `user` is ignored, HOME is /home/agent;
 * - forks and goldens: copies of the folder; processes are not carried along;
 * - guest time: counted, not measured: one millisecond a call, the time limit where a command ran into it;
 * - instructions: 1,000 a call, so that they are equal for equal inputs;
 * - a budget: refuses calls once it is used up; a command in the middle is not stopped;
 * - the digest: of the files alone;
 * - a cancel: kills the command that runs;
 * - death: `kill()` makes every later call fail as a dead machine does.
 *
 * It needs `unshare` with user namespaces; `hostSandboxAvailable()` says whether the host has them.
 */
export { hostSandboxAvailable } from "./namespace.js";
export { HostProvider } from "./provider.js";
export { HostSandbox, hostSandbox } from "./sandbox.js";
