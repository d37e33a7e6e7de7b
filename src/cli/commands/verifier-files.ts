/** Files that the verifier's commands read. */
import { readFile } from "node:fs/promises";
import { ShinkenError } from "../../errors/index.js";

/** A file's text; `bad_request` with its path if it cannot be read. */
export async function readText(file: string, suggestion: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const { code = "unreadable" } = error as NodeJS.ErrnoException;
    throw new ShinkenError("bad_request", `${file}: ${code}`, { path: file, suggestion });
  }
}

/** The JSON of a file. */
export async function readJson(file: string, suggestion: string): Promise<unknown> {
  const text = await readText(file, suggestion);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new ShinkenError("bad_request", `${file}: ${(error as Error).message}`, { path: file, suggestion });
  }
}
