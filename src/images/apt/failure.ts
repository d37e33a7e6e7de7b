import { ShinkenError } from "../../errors/index.js";
import { diskFull } from "../files.js";

/** The last lines of apt's complaints, without its warnings. */
function complaint(output: string): string {
  const errors = output.split("\n").filter((line) => /^(E:|Err:|gpgv:)|^\s{2,}\S/.test(line));
  return (errors.length > 0 ? errors : output.trim().split("\n"))
    .slice(-6)
    .map((line) => line.trim())
    .join("; ");
}

/** Turns what apt printed when it failed into an error with the fitting code. */
export function aptFailure(doing: string, output: string): ShinkenError {
  const message = `${doing}: ${complaint(output)}`;
  if (/No space left on device/i.test(output)) return diskFull(message);
  if (/Hash Sum mismatch|File has unexpected size/i.test(output))
    return new ShinkenError("hash_mismatch", message);
  if (
    /NO_PUBKEY|BADSIG|EXPKEYSIG|REVKEYSIG|is not signed|signatures? (were|was|couldn't|could not)|Clearsigned file isn't valid/i.test(
      output,
    )
  ) {
    return new ShinkenError("signature_invalid", message);
  }
  return new ShinkenError("image_build_failed", message, {
    suggestion: "is the mirror reachable? SHINKEN_DEBIAN_MIRROR names another one",
  });
}
