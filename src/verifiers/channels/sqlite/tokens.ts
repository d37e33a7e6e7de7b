/** SQL cut into tokens, as SQLite's own tokenizer cuts it: https://www.sqlite.org/lang.html and its "Tokens". */

export interface Token {
  kind: "word" | "string" | "name" | "parameter" | "number" | "mark";
  /** Words in lower case, strings without their quotes, everything else as written. */
  text: string;
}

const SPACE = /(?:[ \t\n\f\r]+|--[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/|$))+/y;
const KINDS: [Token["kind"] | "open", RegExp][] = [
  ["string", /'(?:[^']|'')*'/y],
  ["name", /"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]/y],
  ["open", /['"`[]/y],
  ["parameter", /\?\d*|[:@#$][\w$\u0080-\uffff]+/y],
  ["number", /(?:0x[\da-f]+|\d[\d_]*(?:\.[\d_]*)?(?:e[+-]?\d+)?|\.\d[\d_]*(?:e[+-]?\d+)?)/iy],
  ["word", /[a-z_\u0080-\uffff][\w$\u0080-\uffff]*/iy],
  ["mark", /->>?|\|\||[<>=!]=|<>|<<|>>|[^]/y],
];

/** The tokens, or in words why there are none: what stays open, or a NUL, at which SQLite would stop reading. */
export function tokensOf(sql: string): Token[] | string {
  if (sql.includes("\0")) return "holds a NUL character";
  const tokens: Token[] = [];
  for (let at = 0; ; ) {
    SPACE.lastIndex = at;
    if (SPACE.test(sql)) at = SPACE.lastIndex;
    if (at >= sql.length) return tokens;
    for (const [kind, pattern] of KINDS) {
      pattern.lastIndex = at;
      const found = pattern.exec(sql)?.[0];
      if (found === undefined) continue;
      if (kind === "open") return `has a ${found} that is never closed`;
      tokens.push({ kind, text: textOf(kind, found) });
      at += found.length;
      break;
    }
  }
}

function textOf(kind: Token["kind"], found: string): string {
  if (kind === "word") return found.toLowerCase();
  return kind === "string" ? found.slice(1, -1).replaceAll("''", "'") : found;
}
