/** A bundle of version 0, which was never released: it shows that older events are read as the present version has them. */
import { sessionOf } from "./bundles.js";
import { chunkOf, fileOf, pack, plainChunk } from "./raw.js";

export function versionZero(): Buffer {
  const channels = ["session", "reward", "marker"].map((topic) => ({ topic }));
  const { parent: _parent, labels: _labels, ...session } = sessionOf("old", { skn: 0 });
  const events: [channel: number, event: Record<string, unknown>][] = [
    [1, { seq: 0, step: 0, t: 1_700_000_000.25, ...session }],
    [2, { seq: 1, step: 1, t: 1_700_000_001.0005, value: 0.5, unknown: "kept" }],
    [3, { seq: 2, step: 1, t: 1_700_000_002, kind: "ended", message: "done" }],
  ];
  const messages = events.map(([channel, event]) => ({ channel, data: pack(event) }));
  return fileOf([plainChunk(chunkOf(channels, messages))]);
}
