/** Bundles for people: what happened in an episode, and which there are. */
export type { FileChange } from "./changes.js";
export {
  type ShownEpisode,
  type ShownEvent,
  type ShownStep,
  type ShownVerdict,
  showEpisode,
} from "./episode.js";
export { type ListedEpisode, listEpisodes } from "./list.js";
export { printable, printableJson, printableLines } from "./printable.js";
