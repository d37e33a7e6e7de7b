import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ShinkenError } from "../../errors/index.js";
import { run } from "../process.js";

/**
 * Checks a clear-signed file with gpgv and gives back exactly the text that was signed. One good signature by one of
 * the keys is needed; signatures by keys that we do not hold are passed over, a bad one by a key that we hold is not.
 * Throws `signature_invalid`. Status lines: GnuPG, doc/DETAILS.
 */
export async function verifySigned(file: string, keyrings: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "shinken-gpgv-"));
  try {
    const output = join(folder, "signed");
    const keys = keyrings.flatMap((keyring) => ["--keyring", keyring]);
    const result = await run("gpgv", [
      "--homedir",
      folder,
      "--status-fd",
      "1",
      ...keys,
      "--output",
      output,
      file,
    ]);
    const status = (name: string): boolean => new RegExp(`^\\[GNUPG:\\] ${name}\\b`, "m").test(result.stdout);
    const isBad = ["BADSIG", "EXPSIG", "EXPKEYSIG", "REVKEYSIG", "BADARMOR"].some(status);
    if (isBad || !status("VALIDSIG") || !status("GOODSIG")) {
      const reason = result.stderr.trim().split("\n").slice(-3).join("; ");
      throw new ShinkenError(
        "signature_invalid",
        `${file}: no valid signature by the project's keys: ${reason}`,
      );
    }
    return await readFile(output, "utf8");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
