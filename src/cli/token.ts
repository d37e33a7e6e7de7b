import { readFileSync } from "node:fs";
import { ShinkenError } from "../errors/index.js";

/** A bearer token: of the file if one is named, else of the environment variable. */
export function readToken(file: string | undefined, variable: string): string | undefined {
  if (file === undefined) return process.env[variable] || undefined;
  try {
    return readFileSync(file, "utf8").trim();
  } catch (cause) {
    throw new ShinkenError(
      "unauthorized",
      `the token file ${file} cannot be read: ${(cause as Error).message}`,
      { cause },
    );
  }
}
