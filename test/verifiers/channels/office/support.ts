/** Office files that a real tool wrote, and checks on them through the public face. */
import { strToU8, unzipSync, zipSync } from "fflate";
import { faults, fixture, holds, lacks } from "../documents.js";

export const PATH = "/home/agent/out";
export const SALES = fixture("sales.xlsx");
export const PLAIN = fixture("plain.xlsx");
export const LETTER = fixture("letter.docx");
export const TALK = fixture("talk.pptx");

export const office = (bytes: Uint8Array, query: object, assert: object) =>
  holds("office", { path: PATH, ...query }, assert, { [PATH]: bytes });
export const json = (bytes: Uint8Array, query: object, path: string, equals: unknown) =>
  office(bytes, query, { type: "json", path, equals });
export const absent = (bytes: Uint8Array, query: object, why: string) =>
  lacks("office", { path: PATH, ...query }, { [PATH]: bytes }, `${PATH}${why}`);
export const refused = (
  bytes: Uint8Array,
  why: string,
  query: object = { kind: "properties" },
  assert: object = { type: "json", exists: true },
) => faults("office", { path: PATH, ...query }, assert, { [PATH]: bytes }, why);

/** A file with some of its parts put in, changed or (null) taken out. */
export function changed(
  bytes: Uint8Array,
  parts: Record<string, ((text: string) => string) | string | null>,
): Uint8Array {
  const files = unzipSync(bytes);
  for (const [name, change] of Object.entries(parts)) {
    const before = Buffer.from(files[name] ?? []).toString();
    if (change === null) Reflect.deleteProperty(files, name);
    else files[name] = strToU8(typeof change === "string" ? change : change(before));
  }
  return zipSync(files);
}
