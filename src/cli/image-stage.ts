/** Building an image with progress, for `image build` and `demo`. */
import type { BuildOptions, ImageInfo, ImageStage } from "../images/index.js";
import { Stage } from "./progress.js";

const names: Record<ImageStage, string> = {
  packages: "image: packages",
  tree: "image: files",
  boot: "image: finishing boot",
  image: "image: write",
};

/** Builds the image, or finds it in the cache and says so. */
export async function buildWithProgress(
  name: string,
  options: Pick<BuildOptions, "guestPython" | "locked" | "mirror" | "refresh"> = {},
): Promise<ImageInfo> {
  const [{ buildImage }, { runFinishingBoot }] = await Promise.all([
    import("../images/index.js"),
    import("../sandbox/microvm/program.js"),
  ]);
  let current: { stage: ImageStage; shown: Stage } | undefined;
  let cached = false;
  const finish = () => {
    if (cached) current?.shown.cached();
    else current?.shown.end();
    current = undefined;
  };
  const image = await buildImage(name, {
    ...options,
    runFinishingBoot,
    onProgress: ({ stage, done, total, text }) => {
      if (current?.stage !== stage) {
        finish();
        current = { stage, shown: new Stage(names[stage]) };
      }
      cached = text === "cached";
      if (!cached) current.shown.update(done, total, text);
    },
  });
  finish();
  return image;
}
