export interface CpioMember {
  path: string;
  inode: number;
  mode: number;
  uid: number;
  gid: number;
  links: number;
  mtime: number;
  major: number;
  minor: number;
  data: Buffer;
}

/** Reads a newc archive; independent of the writer under test. */
export function readCpio(archive: Buffer): CpioMember[] {
  const members: CpioMember[] = [];
  let at = 0;
  for (;;) {
    if (archive.toString("latin1", at, at + 6) !== "070701") throw new Error(`no member at ${at}`);
    const field = (index: number): number =>
      Number.parseInt(archive.toString("latin1", at + 6 + index * 8, at + 14 + index * 8), 16);
    const nameLength = field(11);
    const path = archive.toString("utf8", at + 110, at + 110 + nameLength - 1);
    const start = (at + 110 + nameLength + 3) & ~3;
    const end = start + field(6);
    if (path === "TRAILER!!!") return members;
    members.push({
      path,
      inode: field(0),
      mode: field(1),
      uid: field(2),
      gid: field(3),
      links: field(4),
      mtime: field(5),
      major: field(9),
      minor: field(10),
      data: archive.subarray(start, end),
    });
    at = (end + 3) & ~3;
  }
}
