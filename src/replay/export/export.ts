/** Bundles in, a data set out. */
import { ShinkenError } from "../../errors/index.js";
import { zstdReady } from "../format/zstd.js";
import { type Judged, readEpisode } from "./episode.js";
import {
  type ExportFilter,
  type LeftOut,
  leftOutReasons,
  readSession,
  sessionFilter,
  verdictFilter,
} from "./filter.js";
import type { ExportFormat } from "./formats/format.js";
import { type ExportFormatName, exportFormats } from "./formats/index.js";
import { containerOf, containers, type RowSink } from "./sinks.js";

export interface ExportOptions {
  files: readonly string[];
  format: ExportFormatName;
  /** Ends in .jsonl or .parquet. What is there is replaced once the whole is written. */
  to: string;
  filter?: ExportFilter;
  /** By id of the episode: verdicts that stand in for the bundles' own. */
  verdicts?: ReadonlyMap<string, Judged>;
  onFile?: (file: string, done: number, all: number) => void;
}

export interface ExportReport {
  format: ExportFormatName;
  to: string;
  bytes: number;
  files: number;
  /** Episodes that the rows are of. */
  episodes: number;
  rows: number;
  /** Episodes without a row, by the reason. */
  left_out: Record<LeftOut, number>;
  /** Files that could not be read. */
  unreadable: { file: string; code: string; message: string }[];
}

/**
 * Writes the rows of all episodes that the filter takes, file after file; holds one episode at a time. A file that cannot be read is
 * told of and left out. Rejects with `bad_request` for an unknown ending or a place that cannot be written to, and with `disk_full`.
 */
export async function exportBundles(options: ExportOptions): Promise<ExportReport> {
  const { files, format, to } = options;
  await zstdReady;
  const sink = containers[containerOf(to)](to, exportFormats[format].columns);
  const report: ExportReport = {
    format,
    to,
    bytes: 0,
    files: files.length,
    episodes: 0,
    rows: 0,
    left_out: Object.fromEntries(leftOutReasons.map((reason) => [reason, 0])) as Record<LeftOut, number>,
    unreadable: [],
  };
  try {
    const take = taker(options, sink, report);
    for (const [done, file] of files.entries()) {
      options.onFile?.(file, done, files.length);
      await take(file);
    }
    report.bytes = sink.finish();
    return report;
  } catch (error) {
    sink.discard();
    throw error;
  }
}

function taker(
  { format: name, filter = {}, verdicts = new Map() }: ExportOptions,
  sink: RowSink,
  report: ExportReport,
): (file: string) => Promise<void> {
  const format: ExportFormat = exportFormats[name];
  const judge = sessionFilter(filter);
  const seen = new Set<string>();
  const rowsOf = async (file: string): Promise<ReturnType<ExportFormat["rows"]>> => {
    const session = await readSession(file);
    const early = session === null ? null : judge(session);
    if (early !== null) return early;
    const episode = await readEpisode(file);
    episode.verdict = verdicts.get(episode.session.episode) ?? episode.verdict;
    const late = verdictFilter(episode, filter);
    if (late !== null) return late;
    if (seen.has(episode.session.episode)) return "duplicate";
    seen.add(episode.session.episode);
    return format.rows(episode, report.rows);
  };
  return async (file) => {
    let rows: ReturnType<ExportFormat["rows"]>;
    try {
      rows = await rowsOf(file);
    } catch (error) {
      report.unreadable.push({ file, ...whatFailed(error) });
      return;
    }
    if (typeof rows === "string") {
      report.left_out[rows] += 1;
      return;
    }
    for (const row of rows) {
      sink.add(row);
      report.rows += 1;
    }
    report.episodes += 1;
  };
}

/** Of a bundle that cannot be read. Faults of ours are thrown on. */
function whatFailed(error: unknown): { code: string; message: string } {
  if (error instanceof ShinkenError) return { code: error.code, message: error.message };
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== undefined) return { code, message };
  throw error;
}
