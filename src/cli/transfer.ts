/** Files between the host and a machine. Names that come from the guest are not trusted. */
import { chmod, lstat, mkdir, open, readdir, stat } from "node:fs/promises";
import { basename, join, posix } from "node:path";
import { ShinkenError } from "../errors/index.js";
import type { FileStat, Sandbox } from "../sandbox/sandbox.js";

/** Bytes moved in one go. */
const piece = 16 * 1024 * 1024;
/** Levels of folders that are followed. */
const maxDepth = 64;
/** Symbolic links that lead to what is fetched. */
const maxLinks = 16;
const permissionBits = 0o777;

/**
 * Copies a file or folder into the machine. A guest path that is relative begins at the user's home; one that ends in a
 * slash is the folder to put it into, and so is a folder that is there when a file is copied.
 */
export async function copyIn(
  machine: Sandbox,
  host: string,
  guest: string,
  user: string | undefined,
): Promise<void> {
  const path = await guestPath(machine, guest, user);
  const into = guest.endsWith("/") || ((await isFile(host)) && (await isGuestFolder(machine, path)));
  await copyEntry(machine, host, into ? posix.join(path, basename(host)) : path, user, 0);
}

async function isFile(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isFile() === true;
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() === true;
}

async function isGuestFolder(machine: Sandbox, path: string): Promise<boolean> {
  return (await machine.statIfExists(path))?.type === "directory";
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

/**
 * Copies a file or folder out of the machine. A host path that ends in a slash is the folder to put it into, which is made if
 * it is missing; so is a folder that is there when a file is fetched. A relative guest path begins at the user's home.
 */
export async function fetchOut(
  machine: Sandbox,
  guest: string,
  host: string,
  user: string | undefined,
): Promise<void> {
  const named = await guestPath(machine, guest, user);
  const { path: source, info } = await follow(machine, named);
  const into = host.endsWith("/") || (info.type === "file" && (await isFolder(host)));
  if (host.endsWith("/")) await mkdir(host, { recursive: true });
  const target = into ? join(host, safeName(posix.basename(named))) : host;
  await fetchEntry(machine, info, source, target, 0);
}

/** What a path leads to: somebody who names a link wants what it stands for. */
async function follow(machine: Sandbox, named: string): Promise<{ path: string; info: FileStat }> {
  let path = named;
  for (let links = 0; links <= maxLinks; links += 1) {
    const info = await machine.stat(path);
    if (info.type !== "symlink" || info.target === undefined) return { path, info };
    path = posix.resolve(posix.dirname(path), info.target);
  }
  throw new ShinkenError("bad_request", `${named} leads through more than ${maxLinks} symbolic links`, {
    path: "fetch",
  });
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
  if (info.type === "file") return fetchFile(machine, guest, host, info.mode & permissionBits);
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

async function fetchFile(machine: Sandbox, guest: string, host: string, mode: number): Promise<void> {
  const file = await open(host, "w").catch((cause: unknown) => {
    throw new ShinkenError("bad_request", `${host} cannot be written`, { path: "fetch", cause });
  });
  try {
    for (let offset = 0; ; ) {
      const bytes = await machine.readFile(guest, { offset, limit: piece });
      await file.write(bytes);
      offset += bytes.length;
      if (bytes.length < piece) break;
    }
  } finally {
    await file.close();
  }
  // The host's user must be able to read what was fetched, whatever the guest thinks of others.
  await chmod(host, mode | 0o600);
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
