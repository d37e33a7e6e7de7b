/** Files of rows, written as they come: what is held is bounded by a buffer, however many rows there are. */
import { closeSync, openSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { extname } from "node:path";
import { fileWriter, ParquetWriter } from "hyparquet-writer";
import { isDiskFull } from "../../errors/disk.js";
import { ShinkenError } from "../../errors/index.js";
import { compress } from "../format/zstd.js";
import { type Columns, parquetSchema, parquetValue, type Row } from "./columns.js";

export interface RowSink {
  add(row: Row): void;
  /** Puts the whole file in its place; gives its size in bytes. */
  finish(): number;
  /** Leaves nothing behind. */
  discard(): void;
}

/** Containers, by the ending of a file's name. */
export const containers = { ".jsonl": jsonLines, ".parquet": parquet } as const;
export type Container = keyof typeof containers;

/** @throws ShinkenError `bad_request` for another ending */
export function containerOf(to: string): Container {
  const ending = extname(to);
  if (Object.hasOwn(containers, ending)) return ending as Container;
  throw new ShinkenError("bad_request", `${to} must end in ${Object.keys(containers).join(" or ")}`, {
    path: "--to",
  });
}

/** About so many bytes of rows are held before they are written. */
const heldBytes = 8 * 1024 * 1024;

/** Lines of JSON. Numbers that JSON cannot say are null. Fields of messages that a role does not have are absent. */
function jsonLines(path: string, columns: Columns): RowSink {
  const names = Object.keys(columns);
  const temporary = temporaryOf(path);
  const fd = attempt(() => openSync(temporary, "w"));
  let held: string[] = [];
  let size = 0;
  let open = true;
  const close = (): void => {
    if (open) closeSync(fd);
    open = false;
  };
  const flush = (): void => {
    const bytes = Buffer.from(held.join(""));
    attempt(() => {
      for (let at = 0; at < bytes.byteLength; ) at += writeSync(fd, bytes, at);
    });
    held = [];
    size = 0;
  };
  return {
    add(row) {
      const line = `${JSON.stringify(Object.fromEntries(names.map((name) => [name, row[name] ?? null])))}\n`;
      held.push(line);
      size += line.length;
      if (size >= heldBytes) flush();
    },
    finish() {
      flush();
      close();
      return place(temporary, path);
    },
    discard() {
      close();
      rmSync(temporary, { force: true });
    },
  };
}

/** Parquet with typed columns, a row group for each buffer, Zstandard. Call after `zstdReady`. */
function parquet(path: string, columns: Columns): RowSink {
  const temporary = temporaryOf(path);
  const types = Object.entries(columns);
  const writer = attempt(
    () =>
      new ParquetWriter({
        writer: fileWriter(temporary),
        schema: parquetSchema(columns),
        codec: "ZSTD",
        compressors: { ZSTD: compress },
        // They would hold the least and the greatest text of each row group until the end.
        statistics: false,
        createdBy: "shinken-gym",
      }),
  );
  let held: Row[] = [];
  let size = 0;
  const flush = (): void => {
    if (held.length === 0) return;
    const columnData = types.map(([name, type]) => ({
      name,
      data: held.map((row) => parquetValue(row[name], type)),
      offsetIndex: false,
    }));
    // A writer into a file has nothing to wait for.
    attempt(() => void writer.write({ columnData, rowGroupSize: held.length }));
    held = [];
    size = 0;
  };
  return {
    add(row) {
      held.push(row);
      size += sizeOf(row);
      if (size >= heldBytes) flush();
    },
    finish() {
      flush();
      attempt(() => void writer.finish());
      return place(temporary, path);
    },
    discard() {
      rmSync(temporary, { force: true });
    },
  };
}

/** Beside its place, so that nobody reads a part for the whole. */
const temporaryOf = (path: string): string => `${path}.${process.pid}.part`;

function place(temporary: string, path: string): number {
  return attempt(() => {
    renameSync(temporary, path);
    return statSync(path).size;
  });
}

/** About what a value holds, in bytes. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length + 8;
  if (typeof value !== "object" || value === null) return 8;
  return Object.values(value).reduce<number>((sum, held) => sum + sizeOf(held), 8);
}

/** @throws ShinkenError `disk_full`, or `bad_request` for a place that cannot be written to. */
function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (isDiskFull(cause)) throw new ShinkenError("disk_full", message, { cause });
    if (code !== undefined && placeErrors.has(code))
      throw new ShinkenError("bad_request", message, { path: "--to", cause });
    throw cause;
  }
}

const placeErrors = new Set(["ENOENT", "ENOTDIR", "EISDIR", "EACCES", "EPERM", "EROFS"]);
