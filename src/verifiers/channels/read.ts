/** One door to all channels. */
import type { Answer } from "../value.js";
import { readArchive } from "./archive/read.js";
import type { ChannelContext, ReadChannel } from "./channel.js";
import { readConfig } from "./config/read.js";
import { ShinkenError } from "../../errors/index.js";
import { readDbus } from "./dbus/read.js";
import { readEpisode } from "./episode/read.js";
import { readExecJson } from "./exec-json/read.js";
import { readFs } from "./fs/read.js";
import { readGit } from "./git/read.js";
import { readHttp } from "./http/read.js";
import { readHtml } from "./html/read.js";
import { readImage } from "./image/read.js";
import { readModule } from "./module/read.js";
import { readMbox } from "./mbox/read.js";
import { readMedia } from "./media/read.js";
import { readOffice } from "./office/read.js";
import { readPdf } from "./pdf/read.js";
import { readProcess } from "./process/read.js";
import type { ChannelName, ChannelQuery, QueryOf } from "./schema.js";
import { readSqlite } from "./sqlite/read.js";
import { readXml } from "./xml/read.js";

/** A task that asks these is refused when it is loaded, until an image offers them. */
const withoutTransport = (): Promise<Answer> =>
  Promise.reject(new ShinkenError("grader_error", "no image offers this channel yet"));

const readers: { [Name in ChannelName]: ReadChannel<QueryOf<Name>> } = {
  fs: readFs,
  process: readProcess,
  sqlite: readSqlite,
  config: readConfig,
  archive: readArchive,
  office: readOffice,
  pdf: readPdf,
  "exec-json": readExecJson,
  html: readHtml,
  xml: readXml,
  image: readImage,
  media: readMedia,
  mbox: readMbox,
  git: readGit,
  module: readModule,
  http: readHttp,
  dbus: readDbus,
  a11y: withoutTransport,
  cdp: withoutTransport,
  uno: withoutTransport,
  episode: readEpisode,
};

/** Reads a query through its channel. */
export function readChannel(query: ChannelQuery, context: ChannelContext): Promise<Answer> {
  const read = readers[query.channel] as ReadChannel<ChannelQuery["query"]>;
  return read(query.query, context);
}
