import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  floatText,
  parseFloatLikePython,
  parseIntLikePython,
  reprText,
} from "../../src/suites/python/numbers.js";
import { strip, withoutPunctuation, withoutSpace, words } from "../../src/suites/python/text.js";
import { sentences, sentenceWords, tokenize } from "../../src/suites/python/treebank.js";
import { parseQuery, parseUrl, unquote } from "../../src/suites/python/urls.js";

describe("numbers are read as Python reads them", () => {
  it.each([
    ["1_000.5_0", 1000.5],
    ["٣", 3],
    ["１２", 12],
    [" 1 ", 1],
    [".5", 0.5],
    ["5.", 5],
    ["1e1_0", 1e10],
    ["-Infinity", Number.NEGATIVE_INFINITY],
    ["iNf", Number.POSITIVE_INFINITY],
    ["1e999", Number.POSITIVE_INFINITY],
  ])("float(%j) is %d", (text, value) => {
    expect(parseFloatLikePython(text)).toBe(value);
  });

  it.each(["", "0x1", "_1", "1__0", "²", "1 2", "+", "1e", ".", "\x1c1", "1,0"])(
    "float(%j) raises",
    (text) => {
      expect(parseFloatLikePython(text)).toBeUndefined();
    },
  );

  it("int() is exact at any size, and takes no fraction", () => {
    expect(parseIntLikePython("12345678901234567890")).toBe(12345678901234567890n);
    expect(parseIntLikePython(" -0_7 ")).toBe(-7n);
    expect(parseIntLikePython("1.0")).toBeUndefined();
    expect(parseIntLikePython("9".repeat(4301))).toBeUndefined();
  });

  it("are written as Python writes them", () => {
    expect([1, 1e16, 1e-5, 0.1, -0, Number.NaN].map(floatText)).toEqual([
      "1.0",
      "1e+16",
      "1e-05",
      "0.1",
      "-0.0",
      "nan",
    ]);
  });

  it("any finite number's text reads back as itself", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(parseFloatLikePython(floatText(value))).toBe(value);
      }),
    );
  });
});

describe("text", () => {
  it("has Python's white space: the separators, and no byte order mark", () => {
    expect(strip("\u001c\u0085 a\u00a0")).toBe("a");
    expect(strip("\ufeffa")).toBe("\ufeffa");
    expect(words(" a\u2003b\u001fc ")).toEqual(["a", "b", "c"]);
    expect(withoutSpace("a\u3000b")).toBe("ab");
  });

  it("loses ASCII punctuation alone", () => {
    expect(withoutPunctuation("a-b’c!“d”_~")).toBe("ab’c“d”");
  });

  it("is quoted as Python quotes it", () => {
    expect(["a'b", "a\"'b", "\n\x00é", "\u200b"].map(reprText)).toEqual([
      '"a\'b"',
      "'a\"\\'b'",
      "'\\n\\x00é'",
      "'\\u200b'",
    ]);
  });
});

describe("words", () => {
  it.each([
    ["Good muffins cost $3.88 (roughly 3,36 euros).", "Good muffins cost $ 3.88 ( roughly 3,36 euros ) ."],
    ["it's can't cannot 'tis gonna", "it 's ca n't can not ' tis gon na"],
    ['"so," he said--twice', "`` so , '' he said -- twice"],
    ["50% of 1,200: #7", "50 % of 1,200 : # 7"],
  ])("of %s", (text, expected) => {
    expect(sentenceWords(text)).toEqual(expected.split(" "));
  });

  it("of a text take the full stop off each sentence, but not off an abbreviation", () => {
    expect(sentences("it is 17. dr. x knows.")).toEqual(["it is 17.", "dr. x knows."]);
    expect(tokenize("it is 17. dr. x")).toEqual(["it", "is", "17", ".", "dr.", "x"]);
  });

  it("hold all letters of the text, and never throw", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const letters = (given: string): string => given.replace(/[^\p{L}\p{N}]/gu, "");
        expect(letters(tokenize(text).join(""))).toBe(letters(text));
      }),
    );
  });
});

describe("addresses", () => {
  it("fall apart as urllib.parse takes them", () => {
    expect(parseUrl("HTTP://u@H.com:80/a;b/c;p?x=1#f").value).toEqual({
      scheme: "http",
      netloc: "u@H.com:80",
      path: "/a;b/c",
      params: "p",
      query: "x=1",
      fragment: "f",
    });
    expect(parseUrl("http://[::1").fault).toEqual({ kind: "ValueError", message: "Invalid IPv6 URL" });
    expect(parseUrl("http://a℀b").fault?.kind).toBe("ValueError");
  });

  it("have queries whose empty values count only if asked for", () => {
    expect([...parseQuery("a=1&a=%C3%A9&b=&c+d=x+y")]).toEqual([
      ["a", ["1", "é"]],
      ["c d", ["x y"]],
    ]);
    expect([...parseQuery("b=&c", { blank: true })]).toEqual([
      ["b", [""]],
      ["c", [""]],
    ]);
    expect(unquote("%ff%C3%A9%2")).toBe("\ufffdé%2");
  });

  it("never make anything throw", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.webUrl()), (text) => {
        parseUrl(text);
        parseQuery(text);
        unquote(text);
      }),
    );
  });
});
