/** Which file a golden of an image or a setup has, known before anybody makes it. */
import { openImage } from "../../images/cache/images.js";
import type { GoldenKey, GoldenOrigin } from "../sandbox.js";
import { loadAddon } from "./addon.js";
import { goldenDigest } from "./golden-store.js";
import { WARM_RECIPE } from "./warm.js";

/** Key of the file, 64 hex digits: the same wherever image, setup, memory and monitor are the same. */
export function fileKeyOf(key: GoldenKey): string {
  return goldenDigest({ ...key, recipe: WARM_RECIPE }, loadAddon().machineAbi);
}

/** What a file must say of itself to be that golden. */
export interface ExpectedGolden {
  key: string;
  /** Digest of the image. */
  image: string;
  memoryMiB: number;
}

/** @throws ShinkenError `image_missing` where this host has no such image. */
export function expectedGolden(origin: GoldenOrigin, cacheDir?: string): ExpectedGolden {
  const { digest } = openImage(origin.image, cacheDir);
  const { setupDigest: setup, memoryMiB } = origin;
  return { key: fileKeyOf({ image: digest, setup, seed: "", memoryMiB }), image: digest, memoryMiB };
}
