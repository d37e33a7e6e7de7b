import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { parseFile } from "../../../src/verifiers/channels/parsers.js";
import { closePool } from "../../../src/verifiers/index.js";
import { check, standsDamage } from "./support.js";

afterAll(closePool);

const bytesOf = (name: string): Uint8Array =>
  readFileSync(new URL(`./fixtures/mbox/${name}`, import.meta.url));
interface Expected {
  subject: string;
  from: string;
  to: string | null;
  message_id: string | null;
  date: string | null;
  text: string;
  attachments: { filename: string; sha256: string }[];
}
/** What Python's email package says; `make.py` beside it made it. */
const expected = JSON.parse(Buffer.from(bytesOf("expected.json")).toString()) as Expected[];

const files = {
  "/m/inbox": bytesOf("inbox.mbox"),
  "/m/one.eml": bytesOf("one.eml"),
  "/m/empty": "",
  "/m/twice": "From a\nMessage-ID: <x>\n\none\n\nFrom b\nMessage-ID: <x>\n\ntwo\n",
  "/m/unquoted": "From a\nSubject: s\n\nline\nFrom the middle of a text\n",
  "/m/undated": "Date: Mon, 4 Mar 2024 12:30:00\nSubject: no zone\n\n",
  "/m/deep.eml": `${Array.from(
    { length: 80 },
    (_, n) => `Content-Type: multipart/mixed; boundary=b${n}\n\n--b${n}\n`,
  ).join("")}\nx\n`,
};
const at = (query: object, assert: object, path = "/m/inbox") =>
  check("mbox", { path, ...query }, assert, { files });

describe("mbox", () => {
  it("lists the messages that Python's email package finds", async () => {
    const rows = expected.map((one) => [one.from, one.to, one.subject, one.date, one.message_id]);
    const columns = ["from", "to", "subject", "date", "message_id"];
    const { status, evidence } = await at({ kind: "table" }, { type: "table", columns, rows });
    expect(status, evidence).toBe("passed");
    expect(await at({ kind: "count" }, { type: "number", equals: expected.length })).toMatchObject({
      status: "passed",
    });
  });

  it.each(expected.map((one, index) => [index, one] as const))(
    "reads text and attachments of message %d as Python does, quoting taken away",
    async (index, one) => {
      const query = { channel: "mbox", query: { kind: "message", path: "/m", index } } as const;
      const answer = await parseFile(bytesOf("inbox.mbox"), query, "the inbox");
      expect(answer).toMatchObject({
        value: { index, subject: one.subject, text: one.text, message_id: one.message_id },
      });
      const { attachments } = (answer as unknown as { value: { attachments: Record<string, unknown>[] } })
        .value;
      const named = attachments.filter(({ mime_type: type }) => type !== "message/rfc822");
      expect(named.map(({ filename, sha256 }) => ({ filename, sha256 }))).toEqual(one.attachments);
    },
  );

  it("finds a message by its id, with brackets or without, and its text", async () => {
    for (const message_id of ["2@example.com", "<2@example.com>"]) {
      const found = await at(
        { kind: "message", message_id },
        { type: "json", path: "/from/0/name", equals: "Jörg" },
      );
      expect(found.status, found.evidence).toBe("passed");
    }
    expect(await at({ kind: "text", index: 3 }, { type: "text", equals: "naïve\n" })).toMatchObject({
      status: "passed",
    });
  });

  it("takes a file with one message as it is", async () => {
    const header = { type: "json", path: "/headers/2", equals: ["Subject", "Grüße aus Köln"] };
    expect((await at({ kind: "message" }, header, "/m/one.eml")).status).toBe("passed");
    expect((await at({ kind: "count" }, { type: "number", equals: 1 }, "/m/one.eml")).status).toBe("passed");
    expect((await at({ kind: "count" }, { type: "number", equals: 0 }, "/m/empty")).status).toBe("passed");
  });

  it("parts messages only after an empty line", async () => {
    const text = { type: "text", contains: "From the middle" };
    expect((await at({ kind: "text" }, text, "/m/unquoted")).status).toBe("passed");
  });

  it("leaves a date without a zone as it is written", async () => {
    const cell = { row: 0, column: "date", equals: "Mon, 4 Mar 2024 12:30:00" };
    expect((await at({ kind: "table" }, { type: "table", cells: [cell] }, "/m/undated")).status).toBe(
      "passed",
    );
  });

  it("fails what is not there", async () => {
    const any = { type: "json", exists: true };
    for (const query of [{ index: 9 }, { message_id: "none@example.com" }])
      expect(await at({ kind: "message", ...query }, any)).toEqual({
        status: "failed",
        evidence: "/m/inbox holds no such message among 5",
      });
    expect((await at({ kind: "message", index: 0 }, any, "/m/empty")).status).toBe("failed");
    expect((await at({ kind: "count" }, { type: "number", equals: 0 }, "/m/none")).status).toBe("failed");
  });

  it.each([
    [{ kind: "message" }, "/m/inbox", "holds 5 messages instead of 1"],
    [{ kind: "message", message_id: "x" }, "/m/twice", '2 messages have the id "x"'],
    [{ kind: "message" }, "/m/deep.eml", "cannot be read"],
  ])("%j of %s is ungraded: %s", async (query, path, why) => {
    expect(await at(query, { type: "json", exists: true }, path)).toMatchObject({
      status: "ungraded",
      evidence: expect.stringContaining(why) as string,
    });
  });

  it("refuses a query for a message by place and by id", async () => {
    await expect(
      at({ kind: "message", index: 0, message_id: "x" }, { type: "json", exists: true }),
    ).rejects.toMatchObject({
      code: "bad_task",
      message: expect.stringContaining("exclude each other") as string,
    });
  });

  it("stands damaged bytes", async () => {
    await standsDamage(
      [bytesOf("inbox.mbox"), bytesOf("one.eml")],
      [
        { channel: "mbox", query: { kind: "table", path: "/m" } },
        { channel: "mbox", query: { kind: "message", path: "/m", index: 1 } },
      ],
    );
  });
});
