/** Files between the host and a machine. Names that come from the guest are not trusted. */
import { lstat, mkdir, open, readdir, stat } from "node:fs/promises";
import { basename, join, posix } from "node:path";
import { ShinkenError } from "../errors/index.js";
import type { FileStat, Sandbox } from "../sandbox/sandbox.js";

/** Bytes moved in one go. */
const piece = 16 * 1024 * 1024;
/** Levels of folders that are followed. */
const maxDepth = 64;
const permissionBits = 0o777;

/**
 * Copies a file or folder into the machine. A guest path that is relative begins at the user's home; one that ends in a
 * slash is the folder to put it into.
 */
export async function copyIn(
  machine: Sandbox,
  host: string,
  guest: string,
  user: string | undefined,
): Promise<void> {
  const target = await guestPath(machine, guest.endsWith("/") ? guest + basename(host) : guest, user);
  await copyEntry(machine, host, target, user, 0);
}

async function copyEntry(
  machine: Sandbox,
  host: string,
  guest: string,
  user: string | undefined,
  depth: number,
): Promise<void> {
  const info = await stat(host).catch((cause: unknown) => {
    throw new ShinkenError("bad_request", `${host} cannot be read`, { path: "copy", cause });
  });
  if (depth > maxDepth)
    throw new ShinkenError("too_large", `${host} is nested more than ${maxDepth} levels deep`);
  if (!info.isDirectory()) return copyFile(machine, host, guest, user, info.mode & permissionBits);
  await machine.exec({ argv: ["mkdir", "-p", "--", guest], user });
  for (const name of await readdir(host)) {
    const entry = join(host, name);
    // A link inside a folder may lead out of it, or in a circle.
    if ((await lstat(entry)).isSymbolicLink())
      process.stderr.write(`shinken: ${entry} is a symbolic link: not copied\n`);
    else await copyEntry(machine, entry, posix.join(guest, name), user, depth + 1);
  }
}

async function copyFile(
  machine: Sandbox,
  host: string,
  guest: string,
  user: string | undefined,
  mode: number,
): Promise<void> {
  const file = await open(host);
  try {
    const buffer = Buffer.alloc(piece);
    for (let append = false; ; append = true) {
      const { bytesRead } = await file.read(buffer, 0, piece);
      if (append && bytesRead === 0) return;
      await machine.writeFile(guest, buffer.subarray(0, bytesRead), { mode, user, append });
      if (bytesRead < piece) return;
    }
  } finally {
    await file.close();
  }
}

/** Copies a file or folder out of the machine; a host path that ends in a slash is the folder to put it into. */
export async function fetchOut(machine: Sandbox, guest: string, host: string): Promise<void> {
  const source = await guestPath(machine, guest, undefined);
  const target = host.endsWith("/") ? join(host, safeName(posix.basename(source))) : host;
  await fetchEntry(machine, await machine.stat(source), source, target, 0);
}

async function fetchEntry(
  machine: Sandbox,
  info: FileStat,
  guest: string,
  host: string,
  depth: number,
): Promise<void> {
  if (depth > maxDepth)
    throw new ShinkenError("too_large", `${guest} is nested more than ${maxDepth} levels deep`);
  if (info.type === "file") return fetchFile(machine, guest, host);
  if (info.type !== "directory") {
    process.stderr.write(`shinken: ${guest} is a ${info.type}: not fetched\n`);
    return;
  }
  await mkdir(host, { recursive: true });
  for (const entry of await machine.list(guest)) {
    const name = safeName(posix.basename(entry.path));
    await fetchEntry(machine, entry, posix.join(guest, name), join(host, name), depth + 1);
  }
}

async function fetchFile(machine: Sandbox, guest: string, host: string): Promise<void> {
  const file = await open(host, "w").catch((cause: unknown) => {
    throw new ShinkenError("bad_request", `${host} cannot be written`, { path: "fetch", cause });
  });
  try {
    for (let offset = 0; ; ) {
      const bytes = await machine.readFile(guest, { offset, limit: piece });
      await file.write(bytes);
      offset += bytes.length;
      if (bytes.length < piece) return;
    }
  } finally {
    await file.close();
  }
}

/** One name of a file, whatever the guest says. */
function safeName(name: string): string {
  if (name === "" || name === "." || name === ".." || name.includes("/") || name.includes("\0")) {
    throw new ShinkenError("agent_protocol", `the guest named a file ${JSON.stringify(name)}`);
  }
  return name;
}

async function guestPath(machine: Sandbox, path: string, user: string | undefined): Promise<string> {
  if (path.startsWith("/")) return path;
  const home = await machine.exec({ argv: ["sh", "-c", 'printf %s "$HOME"'], user });
  return posix.join(Buffer.from(home.stdout).toString("utf8") || "/", path);
}
