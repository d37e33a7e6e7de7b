/** Entries of a tar archive, for tests of what reads them. */
import type { TarEntry } from "../../../src/images/deb/tar.js";

export const fileEntry = (name: string, data: string, mtime = 100): TarEntry => ({
  name,
  type: "file",
  mode: 0o644,
  uid: 0,
  gid: 0,
  mtime,
  link: "",
  major: 0,
  minor: 0,
  data: Buffer.from(data),
});

export const linkEntry = (name: string, target: string): TarEntry => ({
  ...fileEntry(name, ""),
  type: "symlink",
  link: target,
});
