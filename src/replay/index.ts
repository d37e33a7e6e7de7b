/** The replay room's face: recording, reading, and the format. Re-running and grading again live in `rollout`. */
export { bundleEnding, bundleFiles } from "./files.js";
export { defaultReplayFolder } from "./folder.js";
export { type Channel, channelNames, type SessionFacts } from "./format/channels.js";
export { allSchemas, schemaOf } from "./format/schemas.js";
export { BlobRef } from "./format/values.js";
export { sknVersion } from "./format/version.js";
export { type Bundle, type BundleStep, readBundle } from "./read/bundle.js";
export {
  type BundleEvent,
  type ForeignEvent,
  type ReadEnd,
  type ReadOptions,
  readEvents,
} from "./read/reader.js";
export { RecordedEnvironment } from "./record/environment.js";
export { RecordedFactory } from "./record/factory.js";
export { noFacts, type RecordedFacts } from "./record/facts.js";
export { type BundleCheck, check, isSound } from "./write/check.js";
export { homeOf, type IndexLine, readIndex } from "./write/index-file.js";
export { Recorder, type RecorderOptions, type RecorderStats } from "./write/recorder.js";
export { Recording } from "./write/recording.js";
export { type Recovery, recover } from "./write/recover.js";
export { prune, type Pruned } from "./write/retention.js";
