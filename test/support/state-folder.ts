/** Tests start servers, and servers record: into a folder of their own, never the user's. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export default function setup(): (() => void) | undefined {
  if (process.env["SHINKEN_STATE"] !== undefined) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "shinken-test-state-"));
  process.env["SHINKEN_STATE"] = folder;
  return () => {
    delete process.env["SHINKEN_STATE"];
    rmSync(folder, { recursive: true, force: true });
  };
}
