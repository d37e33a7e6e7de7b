/** Container, codecs, length and tags of an audio or video file, read by music-metadata. Nothing is decoded. */
import type { ICommonTagsResult, IFormat } from "music-metadata";
import { parseBuffer } from "music-metadata";
import type { Json } from "../../assertions/schema.js";
import { ContentFault } from "../../value.js";
import type { Parser } from "../parsers.js";
import type { MediaQuery } from "./query.js";

/** Characters of one tag's value. */
const TAG_LIMIT = 64 * 1024;

/** Tags that are told, by their common names. */
const TEXT_TAGS = ["title", "artist", "album", "albumartist", "date", "originaldate", "isrc"] as const;
const LIST_TAGS = ["artists", "genre", "composer"] as const;

export const parseMedia: Parser<MediaQuery> = async (bytes, _query, what) => {
  try {
    const { format, common } = await parseBuffer(bytes, undefined, { duration: true, skipCovers: true });
    return { type: "json", value: { ...formatJson(format), tags: tagsJson(common, what) } };
  } catch (error) {
    if (error instanceof ContentFault) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new ContentFault(`${what} is no audio or video file that can be read: ${why}`);
  }
};

const finite = (value: number | undefined): number | null =>
  value !== undefined && Number.isFinite(value) ? value : null;
/** To the millisecond. */
const seconds = (value: number | undefined): number | null => {
  const whole = finite(value);
  return whole === null ? null : Math.round(whole * 1000) / 1000;
};

function formatJson(format: IFormat): { [key: string]: Json } {
  return {
    container: format.container ?? null,
    codec: format.codec ?? null,
    duration: seconds(format.duration),
    sample_rate: finite(format.sampleRate),
    channels: finite(format.numberOfChannels),
    bits_per_sample: finite(format.bitsPerSample),
    lossless: format.lossless ?? null,
    has_audio: format.hasAudio ?? null,
    has_video: format.hasVideo ?? null,
    tracks: format.trackInfo.map(({ codecName, video, audio }) => ({
      codec: codecName ?? null,
      width: finite(video?.pixelWidth),
      height: finite(video?.pixelHeight),
      sample_rate: finite(audio?.samplingFrequency),
      channels: finite(audio?.channels),
    })),
  };
}

function bounded(text: string, what: string): string {
  if (text.length > TAG_LIMIT) throw new ContentFault(`${what}: a tag has more than ${TAG_LIMIT} characters`);
  return text;
}

/** Only tags that are there. */
function tagsJson(common: ICommonTagsResult, what: string): Json {
  const tags: { [key: string]: Json } = {};
  for (const name of TEXT_TAGS) {
    const value = common[name];
    if (typeof value === "string") tags[name] = bounded(value, what);
  }
  for (const name of LIST_TAGS) {
    const value = common[name];
    if (value !== undefined) tags[name] = value.map((one) => bounded(one, what));
  }
  const year = finite(common.year);
  if (year !== null) tags["year"] = year;
  for (const [name, { no, of }] of [
    ["track", common.track],
    ["disk", common.disk],
  ] as const)
    if (no !== null) tags[name] = { no: finite(no), of: finite(of ?? undefined) };
  const comments = (common.comment ?? []).flatMap(({ text }) =>
    text === undefined ? [] : [bounded(text, what)],
  );
  if (comments.length > 0) tags["comment"] = comments;
  return tags;
}
