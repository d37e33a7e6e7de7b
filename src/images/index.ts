/** Guest images: built from Debian's packages, named by digest, kept in the cache folder. See docs/images.md. */
export { buildImage } from "./build.js";
export { type CacheLayout, cacheLayout } from "./cache/folder.js";
export { imageNames, listImages, openImage } from "./cache/images.js";
export { type Manifest, readManifest } from "./manifest.js";
export { recipes } from "./recipe.js";
export type {
  BuildOptions,
  FinishingBoot,
  FinishingBootRequest,
  ImageInfo,
  ImageProgress,
  ImageStage,
} from "./types.js";
