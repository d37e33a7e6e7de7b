/** Bytes of a file to the value that a query asks for. Each parser is loaded when first needed, in a verifier thread. */
import type { Answer } from "../value.js";
import type { ChannelName, ChannelQuery, QueryOf } from "./schema.js";

/**
 * Parses bytes; `what` names them in faults. What the query asks for may be absent from a sound file. Throws `ContentFault` for
 * what is malformed or too large.
 */
export type Parser<Query> = (bytes: Uint8Array, query: Query, what: string) => Answer | Promise<Answer>;

const parsers = {
  fs: async () => (await import("./fs/parse.js")).parseFs,
  html: async () => (await import("./html/parse.js")).parseHtml,
  xml: async () => (await import("./xml/parse.js")).parseXml,
  image: async () => (await import("./image/parse.js")).parseImage,
  media: async () => (await import("./media/parse.js")).parseMedia,
  mbox: async () => (await import("./mbox/parse.js")).parseMbox,
  git: async () => (await import("./git/parse.js")).parseGit,
  http: async () => (await import("./http/parse.js")).parseHttp,
  dbus: async () => (await import("./dbus/parse.js")).parseDbus,
  config: async () => (await import("./config/parse.js")).parseConfig,
  archive: async () => (await import("./archive/parse.js")).parseArchive,
  office: async () => (await import("./office/parse.js")).parseOffice,
  pdf: async () => (await import("./pdf/parse.js")).parsePdf,
} satisfies { [Name in ChannelName]?: () => Promise<Parser<QueryOf<Name>>> };

/** Channels whose queries read one file and parse it. */
export type ParsedChannel = keyof typeof parsers;
export type ParsedQuery = Extract<ChannelQuery, { channel: ParsedChannel }>;

/** Parses a file's bytes through the query's channel. */
export async function parseFile(bytes: Uint8Array, query: ParsedQuery, what: string): Promise<Answer> {
  const parser = (await parsers[query.channel]()) as Parser<ParsedQuery["query"]>;
  return parser(bytes, query.query, what);
}
