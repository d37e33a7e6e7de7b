/**
 * All channels as data. A channel is a folder: `query.ts` states its queries and their results, `read.ts` reads them,
 * `parse.ts`, where there is one, turns a file's bytes into a value in a verifier thread. A new one is entered here, in `read.ts`
 * and, if it parses, in `parsers.ts`.
 */
import { z } from "zod";
import type { ResultType } from "./describe.js";
import { archiveChannel } from "./archive/query.js";
import { configChannel } from "./config/query.js";
import { a11yChannel } from "./a11y/query.js";
import { cdpChannel } from "./cdp/query.js";
import { dbusChannel } from "./dbus/query.js";
import { episodeChannel } from "./episode/query.js";
import { execJsonChannel } from "./exec-json/query.js";
import { fsChannel } from "./fs/query.js";
import { gitChannel } from "./git/query.js";
import { httpChannel } from "./http/query.js";
import { htmlChannel } from "./html/query.js";
import { imageChannel } from "./image/query.js";
import { moduleChannel } from "./module/query.js";
import { mboxChannel } from "./mbox/query.js";
import { mediaChannel } from "./media/query.js";
import { officeChannel } from "./office/query.js";
import { pdfChannel } from "./pdf/query.js";
import { processChannel } from "./process/query.js";
import { sqliteChannel } from "./sqlite/query.js";
import { unoChannel } from "./uno/query.js";
import { xmlChannel } from "./xml/query.js";

export const channels = {
  fs: fsChannel,
  process: processChannel,
  sqlite: sqliteChannel,
  config: configChannel,
  archive: archiveChannel,
  office: officeChannel,
  pdf: pdfChannel,
  "exec-json": execJsonChannel,
  html: htmlChannel,
  xml: xmlChannel,
  image: imageChannel,
  media: mediaChannel,
  mbox: mboxChannel,
  git: gitChannel,
  module: moduleChannel,
  http: httpChannel,
  dbus: dbusChannel,
  a11y: a11yChannel,
  cdp: cdpChannel,
  uno: unoChannel,
  episode: episodeChannel,
} as const;

export type ChannelName = keyof typeof channels;
export type QueryOf<Name extends ChannelName> = z.output<(typeof channels)[Name]["query"]>;
/** A channel with its query, the `{channel, query}` pair of a check or of an expected value. */
export type ChannelQuery = { [Name in ChannelName]: { channel: Name; query: QueryOf<Name> } }[ChannelName];

export const channelNames = Object.keys(channels) as ChannelName[];

/** Channels that an image offers to a grader. */
export function channelsOf(image: string): ChannelName[] {
  return channelNames.filter((name) => {
    const description: { images?: readonly string[] } = channels[name];
    return description.images?.includes(image) ?? true;
  });
}

/** The shapes of a `{channel, query}` pair with further fields beside, one for each channel. */
export function pairs<Fields extends z.ZodRawShape>(fields: Fields) {
  const made = channelNames.map((name) =>
    z.strictObject({ ...fields, channel: z.literal(name), query: channels[name].query }),
  );
  type Pair = z.output<z.ZodObject<Fields>> & ChannelQuery;
  const [first, ...rest] = made as [(typeof made)[0], ...typeof made];
  return z.discriminatedUnion("channel", [first, ...rest]) as unknown as z.ZodType<Pair>;
}

export const channelQuery = pairs({});

/** The type that a query returns when what it asks for is there. */
export function resultType(query: ChannelQuery): ResultType {
  const results: Readonly<Record<string, ResultType>> = channels[query.channel].results;
  const type = results[query.query.kind];
  if (type === undefined) throw new Error(`no result type for ${query.channel}/${query.query.kind}`);
  return type;
}

/** True for queries that only look: they may run at once and before it is known whether they are needed. */
export function onlyLooks(query: ChannelQuery): boolean {
  return channels[query.channel].onlyLooks;
}

/** True for queries that need a fork of their own, in which the workload goes on. */
export function isLive(query: ChannelQuery): boolean {
  const description: { live?: boolean } = channels[query.channel];
  return description.live === true;
}

/** True for queries that need a fork of their own, frozen like the shared one. */
export function wantsOwnFork(query: ChannelQuery): boolean {
  const description: { ownFork?: boolean } = channels[query.channel];
  return description.ownFork === true || assetsOf(query).length > 0;
}

/** True for queries that are about the machine. */
export function needsMachine(query: ChannelQuery): boolean {
  return channels[query.channel].machine;
}

/** Grading assets that a query names, each with its place: `{asset: name}` anywhere in it. */
export function assetsOf(query: ChannelQuery): { name: string; path: (string | number)[] }[] {
  const found: { name: string; path: (string | number)[] }[] = [];
  const visit = (value: unknown, path: (string | number)[]): void => {
    if (typeof value !== "object" || value === null) return;
    const entries = Object.entries(value);
    const [only] = entries;
    if (entries.length === 1 && only?.[0] === "asset" && typeof only[1] === "string") {
      found.push({ name: only[1], path: [...path, "asset"] });
      return;
    }
    for (const [key, field] of entries) visit(field, [...path, Array.isArray(value) ? Number(key) : key]);
  };
  visit(query.query, ["query"]);
  return found;
}
