/** A file from its beginning to its end: bounded pieces, the whole file's hash, a checksum of what was taken. */
import { createHash } from "node:crypto";
import { type FileHandle, open, stat } from "node:fs/promises";
import { crc32Final, crc32Init, crc32Update } from "@foxglove/crc";
import { ShinkenError } from "../../errors/index.js";

const pieceBytes = 256 * 1024;

export class Source {
  readonly #file: FileHandle;
  /** As it was when it was opened: what is appended meanwhile is not read. */
  readonly size: number;
  /** Bytes taken: the offset of what comes next. */
  at = 0;
  #piece: Buffer = Buffer.alloc(0);
  /** Offset of the piece in the file. */
  #pieceAt = 0;
  readonly #hash = createHash("sha256");
  #crc = crc32Init();

  private constructor(file: FileHandle, size: number) {
    this.#file = file;
    this.size = size;
  }

  /** Rejects with `bundle_missing` where no file can be read. */
  static async open(path: string): Promise<Source> {
    let file: FileHandle | null = null;
    try {
      // Opening some other kinds of file would wait for somebody at their other end.
      if (!(await stat(path)).isFile()) throw new Error("it is no regular file");
      file = await open(path, "r");
      return new Source(file, (await file.stat()).size);
    } catch (cause) {
      await file?.close();
      throw new ShinkenError("bundle_missing", `${path} cannot be read: ${(cause as Error).message}`, {
        path,
        cause,
      });
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  get left(): number {
    return this.size - this.at;
  }

  /** The next bytes, valid until the next call; null where the file ends before. Nothing is allocated that the file does not have. */
  async take(length: number): Promise<Buffer | null> {
    if (length > this.left) return null;
    const bytes = length <= this.#buffered ? this.#cut(length) : await this.#gather(length);
    if (bytes !== null) this.#crc = crc32Update(this.#crc, bytes);
    return bytes;
  }

  /** Begins the checksum anew. */
  restartCrc(): void {
    this.#crc = crc32Init();
  }

  /** Checksum of what was taken since, to be finished by `finishedCrc`. */
  get crc(): number {
    return this.#crc;
  }

  /** The last bytes of the file, wherever reading stands. */
  async tail(length: number): Promise<Buffer> {
    const bytes = Buffer.alloc(Math.min(length, this.size));
    const { bytesRead } = await this.#file.read(bytes, 0, bytes.byteLength, this.size - bytes.byteLength);
    return bytes.subarray(0, bytesRead);
  }

  /** SHA-256 of the whole file, in hex; reads what is left of it. Once. */
  async sha256(): Promise<string> {
    this.at = this.#pieceAt + this.#piece.byteLength;
    while (this.at < this.size && (await this.#fill())) this.at = this.#pieceAt + this.#piece.byteLength;
    return this.#hash.digest("hex");
  }

  get #buffered(): number {
    return this.#pieceAt + this.#piece.byteLength - this.at;
  }

  #cut(length: number): Buffer {
    const from = this.at - this.#pieceAt;
    this.at += length;
    return this.#piece.subarray(from, from + length);
  }

  async #gather(length: number): Promise<Buffer | null> {
    const bytes = Buffer.allocUnsafe(length);
    let done = 0;
    while (done < length) {
      if (this.#buffered === 0 && !(await this.#fill())) return null;
      const part = this.#cut(Math.min(this.#buffered, length - done));
      part.copy(bytes, done);
      done += part.byteLength;
    }
    return bytes;
  }

  /** The next piece. False where the file has become shorter. */
  async #fill(): Promise<boolean> {
    const at = this.#pieceAt + this.#piece.byteLength;
    const piece = Buffer.allocUnsafe(Math.min(pieceBytes, this.size - at));
    const { bytesRead } = await this.#file.read(piece, 0, piece.byteLength, at);
    if (bytesRead === 0) return false;
    this.#pieceAt = at;
    this.#piece = piece.subarray(0, bytesRead);
    this.#hash.update(this.#piece);
    return true;
  }
}

/** The value of a checksum, in the way that files have it; with some bytes more. */
export function finishedCrc(crc: number, more: Uint8Array = new Uint8Array(0)): number {
  return crc32Final(crc32Update(crc, more));
}
