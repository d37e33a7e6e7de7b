/** Byte ranges of RFC 9110, as far as one needs them to go on with a file: one range a request. */

export interface ByteRange {
  first: number;
  /** Included. */
  last: number;
}

/**
 * The range that a `Range` header asks of a file of `size` bytes: null where the whole file is to be sent (there is none, or one that is not
 * understood, which the standard says to ignore), `unsatisfiable` where it lies beyond the end.
 */
export function rangeOf(header: string | undefined, size: number): ByteRange | null | "unsatisfiable" {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? "");
  const [, from = "", to = ""] = match ?? [];
  if (from === "" && to === "") return null;
  if (from === "") {
    const length = Math.min(Number(to), size);
    return length === 0 ? "unsatisfiable" : { first: size - length, last: size - 1 };
  }
  const first = Number(from);
  if (to !== "" && Number(to) < first) return null;
  if (first >= size) return "unsatisfiable";
  return { first, last: to === "" ? size - 1 : Math.min(Number(to), size - 1) };
}
