/**
 * The outer white space that the protocol `v2-outer-whitespace-insensitive` ignores: the 25 code points of Unicode's property
 * White_Space (PropList.txt, Unicode 15.1). Neither JavaScript's `trim`, which takes U+FEFF too and leaves U+0085, nor Python's
 * `strip`, which takes U+001C to U+001F too.
 */
const outer = "\\u0009-\\u000d\\u0020\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const leading = new RegExp(`^[${outer}]+`);
const last = new RegExp(`[${outer}]`);

/** The text without white space around it; what is inside stays. */
export function trimOuter(text: string): string {
  let end = text.length;
  // Character by character: a pattern anchored at the end takes quadratic time on long runs inside.
  while (end > 0 && last.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end).replace(leading, "");
}
