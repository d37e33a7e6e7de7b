/**
 * Writer of the "newc" cpio format that Linux unpacks as an initial root (kernel documentation,
 * "initramfs buffer format"). A member is: a header of 110 ASCII characters (magic 070701 and 13 fields of eight
 * hexadecimal digits), the name with a final NUL, padding to 4, the data, padding to 4. The last member is TRAILER!!!.
 */

export const fileTypeBits = {
  fifo: 0o010000,
  char: 0o020000,
  directory: 0o040000,
  block: 0o060000,
  file: 0o100000,
  symlink: 0o120000,
} as const;
export type CpioType = keyof typeof fileTypeBits;

export interface CpioEntry {
  /** Without a leading slash. */
  path: string;
  type: CpioType;
  /** Permission bits with setuid, setgid and sticky. */
  mode: number;
  uid: number;
  gid: number;
  mtime: number;
  /** Content of a file, or target of a symbolic link. */
  data?: Uint8Array | undefined;
  major?: number | undefined;
  minor?: number | undefined;
}

const trailer = "TRAILER!!!";
const maxField = 0xffff_ffff;

function padding(length: number): Buffer {
  return Buffer.alloc((4 - (length % 4)) % 4);
}

/** Takes the pieces of the archive in order; awaited, so that a slow disk holds the writer back. */
export type ByteSink = (piece: Uint8Array) => Promise<void>;

/**
 * Writes members one after the other. The bytes depend on nothing but the calls: inode numbers count up, device
 * numbers are 0. The caller puts folders before what is in them.
 */
export class CpioWriter {
  private inode = 0;
  private readonly sink: ByteSink;
  /** Bytes written so far. */
  bytes = 0;

  constructor(sink: ByteSink) {
    this.sink = sink;
  }

  async add(entry: CpioEntry): Promise<void> {
    this.inode += 1;
    await this.member(entry, this.inode, entry.type === "directory" ? 2 : 1, entry.data ?? new Uint8Array());
  }

  /**
   * Several names of one file. The data goes with the last name: readers link the others to it when they see it.
   */
  async addLinked(paths: readonly string[], entry: Omit<CpioEntry, "path">): Promise<void> {
    this.inode += 1;
    for (const [index, path] of paths.entries()) {
      const isLast = index === paths.length - 1;
      await this.member(
        { ...entry, path },
        this.inode,
        paths.length,
        isLast ? (entry.data ?? new Uint8Array()) : new Uint8Array(),
      );
    }
  }

  async finish(): Promise<void> {
    await this.member(
      { path: trailer, type: "file", mode: 0, uid: 0, gid: 0, mtime: 0 },
      0,
      1,
      new Uint8Array(),
      0,
    );
  }

  private async member(
    entry: CpioEntry,
    inode: number,
    links: number,
    data: Uint8Array,
    mode = fileTypeBits[entry.type] | entry.mode,
  ): Promise<void> {
    const name = Buffer.from(`${entry.path}\0`, "utf8");
    const fields = [
      inode,
      mode,
      entry.uid,
      entry.gid,
      links,
      entry.mtime,
      data.length,
      0,
      0,
      entry.major ?? 0,
      entry.minor ?? 0,
      name.length,
      0,
    ];
    let header = "070701";
    for (const field of fields) {
      if (!Number.isInteger(field) || field < 0 || field > maxField)
        throw new RangeError(`cpio: ${entry.path}: field out of range`);
      header += field.toString(16).padStart(8, "0");
    }
    const head = Buffer.concat([Buffer.from(header, "latin1"), name]);
    await this.put(Buffer.concat([head, padding(head.length)]));
    if (data.length > 0) {
      await this.put(data);
      const rest = padding(data.length);
      if (rest.length > 0) await this.put(rest);
    }
  }

  private async put(piece: Uint8Array): Promise<void> {
    this.bytes += piece.length;
    await this.sink(piece);
  }
}
