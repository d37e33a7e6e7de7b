/** Secrets as commands, addresses and headers spell them, for any secret. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Redactor, secretMark } from "../../src/replay/write/secrets.js";

/** What passwords are made of, and what none of the spellings below needs an escape for. */
const plain = fc.stringMatching(/^[A-Za-z0-9_.~!*-]{8,40}$/).filter((value) => !value.startsWith("-"));
/** Anything that may stand in quotes and in an address once it is percent-encoded. */
const odd = fc
  .stringMatching(/^[A-Za-z0-9 /+=:@#?é€]{8,40}$/)
  .filter((value) => value.trim().length === value.length);

const base64 = (text: string): string => Buffer.from(text, "utf8").toString("base64");

/** Whether the secret shows in the action, or in what a guest says of it afterwards. */
function shows(action: Record<string, unknown>, secret: string, said: string): boolean {
  const redactor = new Redactor();
  const kept = [redactor.clean({ action }, true).value, redactor.clean({ text: said }).value];
  return JSON.stringify(kept).includes(JSON.stringify(secret).slice(1, -1));
}

const command = (text: string): Record<string, unknown> => ({ type: "exec", command: text });

describe("a secret that an agent spells", () => {
  it.each<[string, (secret: string) => Record<string, unknown>]>([
    ["by export", (s) => command(`export API_TOKEN=${s}; make`)],
    ["before a command", (s) => command(`cd /srv && DB_PASSWORD='${s}' ./run`)],
    ["as an option", (s) => command(`login --token=${s}`)],
    ["as an option's next word", (s) => command(`login --db-password "${s}" --yes`)],
    ["for curl", (s) => command(`curl -s -u ann:${s} http://api/`)],
    ["in an address", (s) => command(`git clone https://ann:${s}@git.example/x`)],
    ["as a parameter", (s) => ({ type: "goto", url: `http://x/?a=1&access_token=${s}` })],
    ["as a raw header", (s) => command(`curl -H "Authorization: Bearer ${s}" http://api/`)],
    [
      "as a cookie's line",
      (s) => ({ type: "write", text: `GET / HTTP/1.1\r\nCookie: theme=dark; sid=${s}\r\n` }),
    ],
    ["in a list of variables", (s) => ({ type: "exec", env: [`API_KEY=${s}`, "LANG=C"] })],
    ["in pairs of variables", (s) => ({ type: "exec", env: [["API_KEY", s]] })],
    ["in named variables", (s) => ({ type: "exec", env: [{ name: "API_KEY", value: s }] })],
  ])("%s is left out, and wherever it comes again", (_how, spelled) => {
    fc.assert(fc.property(plain, (secret) => !shows(spelled(secret), secret, `got <${secret}>`)));
  });

  it("is found percent-encoded, in either case, and in base64 whatever stands around it", () => {
    fc.assert(
      fc.property(odd, fc.string({ maxLength: 9 }), (secret, before) => {
        const redactor = new Redactor({ values: [secret] });
        const own = (text: string): string => String(redactor.clean(text).value);
        const percent = encodeURIComponent(secret);
        expect(own(`x=${percent}&`)).toBe(`x=${secretMark}&`);
        expect(own(percent.toLowerCase() === percent ? percent : `/${percent}/`)).toContain(secretMark);
        expect(own(base64(`${before}:${secret}`))).toContain(secretMark);
        expect(own(base64(`${before}${secret}\n`))).toContain(secretMark);
      }),
    );
  });

  it("of Basic credentials is the password within them", () => {
    fc.assert(
      fc.property(plain, (secret) => {
        const header = { type: "http", headers: { Authorization: `Basic ${base64(`ann:${secret}`)}` } };
        return !shows(header, secret, `ann logs in with ${secret}`);
      }),
    );
  });

  it("keeps its place in lists of variables short as it may be, and the names", () => {
    const { value, paths } = new Redactor().clean(
      { env: ["PIN_TOKEN=12", "LANG=C", ["API_KEY", "x"]] },
      true,
    );
    expect(value).toEqual({ env: [`PIN_TOKEN=${secretMark}`, "LANG=C", ["API_KEY", secretMark]] });
    expect(paths).toEqual(["/env/0", "/env/2"]);
  });
});

describe("what only looks so", () => {
  it.each([
    "TOKEN=$(cat /run/token) ./run",
    'export API_KEY="$KEY" && echo done',
    "f(token=self.token, password=None)",
    "sort --key=2 --field-separator=, names.txt",
    "Authorization: required for all of it",
    "see http://example.com:8080/path@2x.png",
  ])("stays: %s", (text) => {
    expect(new Redactor().clean(command(text), true)).toEqual({ value: command(text), paths: [] });
  });

  it("is not learned from what a guest says", () => {
    const redactor = new Redactor();
    redactor.clean({ text: "API_TOKEN=from-the-guest" });
    expect(redactor.clean("from-the-guest").paths).toEqual([]);
  });
});
