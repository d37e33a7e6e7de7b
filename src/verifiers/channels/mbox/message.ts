/** One message of a mailbox, read by postal-mime. */
import { createHash } from "node:crypto";
import PostalMime, { type Address, decodeWords, type Email, type Mailbox } from "postal-mime";
import type { Json } from "../../assertions/schema.js";
import { ContentFault } from "../../value.js";

/** Parts of a message that lie in each other. */
const PART_DEPTH = 64;
/** Bytes of all headers of a message. */
const HEADER_LIMIT = 1024 * 1024;

/** What the library keeps of a part; not in its types. */
interface Part {
  parentNode?: unknown;
  contentTransferEncoding: { encoding: string };
  content: ArrayBuffer | null;
}
interface Internals {
  currentNode: Part;
  processLine(line: Uint8Array, isFinal: boolean): Promise<void>;
  collectNode(part: Part, ...more: unknown[]): Promise<void>;
}
const library = PostalMime.prototype as unknown as Internals;

/** The line break before a boundary belongs to the boundary (RFC 2046, 5.1.1); the library leaves it with the part. */
class ExactMime extends PostalMime {
  /** Parts whose last line ends softly (RFC 2045, 6.7): the library adds no line break to it. */
  private readonly soft = new WeakSet<Part>();

  async processLine(line: Uint8Array, isFinal: boolean): Promise<void> {
    const self = this as unknown as Internals;
    const part = self.currentNode;
    await library.processLine.call(this, line, isFinal);
    // A boundary is no line of the part.
    if (self.currentNode !== part) return;
    if (line.at(-1) === EQUALS) this.soft.add(part);
    else this.soft.delete(part);
  }

  collectNode(part: Part, ...more: unknown[]): Promise<void> {
    const { encoding } = part.contentTransferEncoding;
    const added = encoding === "quoted-printable" ? !this.soft.has(part) : encoding !== "base64";
    if (part.content !== null && part.parentNode !== undefined && added) {
      const whole = new Uint8Array(part.content);
      if (whole.at(-1) === LF) part.content = part.content.slice(0, -1);
    }
    return library.collectNode.call(this, part, ...more);
  }
}
const LF = 10;
const EQUALS = 61;

/** Rejects with `ContentFault` for a message that is nested too deeply or has too large headers. */
export async function readMessage(bytes: Uint8Array, what: string): Promise<Email> {
  try {
    return await new ExactMime({
      attachmentEncoding: "arraybuffer",
      maxNestingDepth: PART_DEPTH,
      maxHeadersSize: HEADER_LIMIT,
      // A message in a message is an attachment: its texts are not this one's.
      forceRfc822Attachments: true,
    }).parse(bytes);
  } catch (error) {
    throw new ContentFault(
      `${what} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

const mailboxes = (addresses: readonly Address[] | undefined): Mailbox[] =>
  (addresses ?? []).flatMap((one) => one.group ?? [one]);

/** Addresses in order, joined; null where there are none. */
export function addressLine(addresses: readonly Address[] | undefined): string | null {
  const all = mailboxes(addresses).map(({ address }) => address);
  return all.length === 0 ? null : all.join(", ");
}

/** A time zone at the end of a date, a comment after it apart. */
const ZONED = /(?:[+-]\d{4}|\b(?:UT|GMT|Z|[ECMP][SD]T))\s*(?:\([^()]*\)\s*)?$/;

/** When the message says that it was sent, in UTC; as it is written where that is no date or names no zone. */
export function dateOf(email: Email): string | null {
  const written = email.headers.find(({ key }) => key === "date")?.value.trim();
  if (written === undefined) return null;
  const time = ZONED.test(written) ? Date.parse(written) : Number.NaN;
  return Number.isNaN(time) ? written : new Date(time).toISOString();
}

const people = (addresses: readonly Address[] | undefined): Json =>
  mailboxes(addresses).map(({ name, address }) => ({ name, address }));

const bytesOf = (content: ArrayBuffer | Uint8Array | string): Uint8Array =>
  typeof content === "string" ? Buffer.from(content) : new Uint8Array(content);

/** A message as JSON; what it does not have is null. */
export function messageJson(email: Email, index: number): Json {
  return {
    index,
    message_id: email.messageId ?? null,
    date: dateOf(email),
    from: people(email.from === undefined ? [] : [email.from]),
    to: people(email.to),
    cc: people(email.cc),
    subject: email.subject ?? null,
    in_reply_to: email.inReplyTo ?? null,
    headers: email.headers.map(({ originalKey, value }) => [originalKey, decodeWords(value)]),
    text: email.text ?? null,
    html: email.html ?? null,
    attachments: email.attachments.map(({ filename, mimeType, disposition, content }) => {
      const bytes = bytesOf(content);
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      return { filename, mime_type: mimeType, disposition, size: bytes.length, sha256 };
    }),
  };
}
