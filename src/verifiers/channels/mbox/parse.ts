import type { Email } from "postal-mime";
import { type Answer, type Cell, ContentFault } from "../../value.js";
import type { Parser } from "../parsers.js";
import { addressLine, dateOf, messageJson, readMessage } from "./message.js";
import type { MboxQuery } from "./query.js";
import { splitMbox } from "./split.js";

const COLUMNS = ["from", "to", "subject", "date", "message_id"];

const bare = (id: string): string => id.trim().replace(/^<(.*)>$/s, "$1");

export const parseMbox: Parser<MboxQuery> = async (bytes, query, what): Promise<Answer> => {
  const messages = splitMbox(bytes, what);
  if (query.kind === "count") return { type: "number", value: messages.length };
  const read = (index: number): Promise<Email> =>
    readMessage(messages[index] ?? new Uint8Array(), `${what}: message ${index}`);
  if (query.kind === "table") {
    const rows: Cell[][] = [];
    for (const index of messages.keys()) rows.push(rowOf(await read(index)));
    return { type: "table", columns: COLUMNS, rows };
  }
  const index = await placeOf(query, messages.length, read, what);
  if (index === null || index >= messages.length)
    return { absent: `${what} holds no such message among ${messages.length}` };
  const email = await read(index);
  if (query.kind === "message") return { type: "json", value: messageJson(email, index) };
  return email.text === undefined
    ? { absent: `${what}: message ${index} has no text` }
    : { type: "text", value: email.text };
};

function rowOf(email: Email): Cell[] {
  const from = addressLine(email.from === undefined ? [] : [email.from]);
  return [from, addressLine(email.to), email.subject ?? null, dateOf(email), email.messageId ?? null];
}

/** The one message that a query means; without index and id it must be the only one. Null where none has the id. */
async function placeOf(
  query: Extract<MboxQuery, { kind: "message" | "text" }>,
  count: number,
  read: (index: number) => Promise<Email>,
  what: string,
): Promise<number | null> {
  if (query.message_id === undefined) {
    if (query.index === undefined && count > 1)
      throw new ContentFault(`${what} holds ${count} messages instead of 1`);
    return query.index ?? 0;
  }
  const wanted = bare(query.message_id);
  const found: number[] = [];
  for (let index = 0; index < count; index++) {
    const { messageId } = await read(index);
    if (messageId !== undefined && bare(messageId) === wanted) found.push(index);
  }
  if (found.length > 1)
    throw new ContentFault(`${what}: ${found.length} messages have the id ${JSON.stringify(wanted)}`);
  return found[0] ?? null;
}
