import type { Answer } from "../../value.js";
import type { Parser } from "../parsers.js";
import { decodeImage } from "./decode.js";
import { dominantColour, hexColour, holds, meanColour, perceptualHash } from "./measure.js";
import type { ImageQuery } from "./query.js";

/** Decimals of a share or a mean. */
const round = (value: number): number => Math.round(value * 1e4) / 1e4;

export const parseImage: Parser<ImageQuery> = async (bytes, query, what): Promise<Answer> => {
  const picture = await decodeImage(bytes, what);
  switch (query.kind) {
    case "image":
      return { type: "image", value: picture };
    case "info": {
      const { format, width, height, channels } = picture;
      return { type: "json", value: { format, width, height, channels } };
    }
    case "hash":
      return { type: "text", value: perceptualHash(picture) };
    case "region": {
      if (!holds(picture, query))
        return { absent: `${what} is ${picture.width} x ${picture.height}: the region is not in it` };
      const mean = meanColour(picture, query);
      const { colour, share } = dominantColour(picture, query);
      return {
        type: "json",
        value: {
          mean: hexColour(mean),
          mean_rgb: mean.map(round),
          dominant: hexColour(colour),
          dominant_share: round(share),
        },
      };
    }
  }
};
