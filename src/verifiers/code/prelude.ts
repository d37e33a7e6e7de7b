/**
 * JavaScript that stands in every module's machine before it is loaded: a clock and random numbers that are the same each
 * time, and the read-only handle. It is text because it runs in another engine.
 */
export function preludeOf(nowMs: number, seed: number): string {
  return `"use strict";
(() => {
  const RealDate = Date;
  const now = ${JSON.stringify(nowMs)};
  class FixedDate extends RealDate {
    constructor(...given) {
      if (given.length === 0) super(now);
      else super(...given);
    }
    static now() {
      return now;
    }
  }
  globalThis.Date = FixedDate;
  // xorshift32 (Marsaglia, 2003)
  let state = ${JSON.stringify(seed >>> 0 || 1)};
  Math.random = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4294967296;
  };
  const ask = globalThis.__ask;
  delete globalThis.__ask;
  class ContentFault extends Error {
    get name() {
      return "ContentFault";
    }
  }
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const bytesOf = (text) => {
    const clean = text.replace(/=+$/, "");
    const out = new Uint8Array(Math.floor((clean.length * 3) / 4));
    let bits = 0;
    let held = 0;
    let at = 0;
    for (const one of clean) {
      held = ((held << 6) | digits.indexOf(one)) & 0xffffff;
      bits += 6;
      if (bits >= 8) {
        bits -= 8;
        out[at++] = (held >>> bits) & 255;
      }
    }
    return out;
  };
  const read = async (channel, query) => {
    const reply = JSON.parse(await ask(JSON.stringify({ channel, query })));
    if ("refused" in reply) throw new TypeError(reply.refused);
    if ("fault" in reply) throw new ContentFault(reply.fault);
    const answer = JSON.parse(reply.ok);
    if (answer.type === "bytes") answer.value = bytesOf(answer.value);
    return answer;
  };
  const valueOr = (answer) => ("absent" in answer ? null : answer.value);
  const file = (kind) => async (path) => valueOr(await read("fs", { kind, path }));
  const machine = Object.freeze({
    read,
    text: file("text"),
    lines: file("lines"),
    json: file("json"),
    number: file("number"),
    bytes: file("bytes"),
    file: file("file"),
    glob: async (pattern) => (await read("fs", { kind: "glob", pattern })).value,
    sqlite: async (path, sql, bind) => {
      const answer = await read("sqlite", { kind: "table", path, sql, ...(bind === undefined ? {} : { bind }) });
      return "absent" in answer ? null : { columns: answer.columns, rows: answer.rows };
    },
  });
  globalThis.__grade = async (grade, input) => {
    if (typeof grade !== "function") throw new TypeError("the module's default export is no function");
    const result = await grade(machine, JSON.parse(input));
    return JSON.stringify(result) ?? "null";
  };
  globalThis.ContentFault = ContentFault;
})();
`;
}
