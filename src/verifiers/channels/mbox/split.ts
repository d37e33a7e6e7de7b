/**
 * A mailbox in the mbox format (RFC 4155) to messages. A message begins with a line that begins with "From ", at the start of the
 * file or after an empty line; whoever wrote the file has put ">" before such lines of a text, and before those that begin with any
 * number of ">" and "From " (the form called mboxrd): one is taken away. Content-Length is not believed. A file that does not begin
 * with "From " is one message as it is.
 */
import { ContentFault } from "../../value.js";

/** Messages of one mailbox. */
export const MESSAGE_LIMIT = 10_000;

const LF = 10;
const CR = 13;
const FROM = Buffer.from("From ");
const QUOTED = /^>+From /;

const isFrom = (line: Uint8Array): boolean =>
  line.length >= FROM.length && FROM.every((byte, at) => line[at] === byte);
const isEmpty = (line: Uint8Array): boolean => line.length === 0 || (line.length === 1 && line[0] === CR);

/** Lines without their LF. */
function* linesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(LF, at);
    const stop = end === -1 ? bytes.length : end;
    yield bytes.subarray(at, stop);
    at = stop + 1;
  }
}

/** One byte less where a line was quoted. */
function unquoted(line: Uint8Array): Uint8Array {
  if (line[0] !== 0x3e) return line;
  return QUOTED.test(Buffer.from(line.subarray(0, 1_000)).toString("latin1")) ? line.subarray(1) : line;
}

/** The messages' bytes, without the lines that part them. Throws `ContentFault` for more than 10,000. */
export function splitMbox(bytes: Uint8Array, what: string): Uint8Array[] {
  if (bytes.length === 0) return [];
  if (!isFrom(bytes)) return [bytes];
  const messages: Uint8Array[][] = [];
  let afterEmpty = true;
  for (const line of linesOf(bytes)) {
    if (afterEmpty && isFrom(line)) {
      if (messages.length >= MESSAGE_LIMIT)
        throw new ContentFault(`${what} holds more than ${MESSAGE_LIMIT} messages`);
      messages.push([]);
    } else messages.at(-1)?.push(unquoted(line));
    afterEmpty = isEmpty(line);
  }
  return messages.map((lines, index) => {
    // The empty line before the next message belongs to the format.
    const last = lines.at(-1);
    if (index < messages.length - 1 && last !== undefined && isEmpty(last)) lines.pop();
    return Buffer.concat(lines.flatMap((line) => [line, Uint8Array.of(LF)]));
  });
}
