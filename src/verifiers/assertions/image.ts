import {
  hashDistance,
  hexColour,
  holds,
  lumaOf,
  meanColour,
  perceptualHash,
} from "../channels/image/measure.js";
import { meanSsim, WINDOW } from "../channels/image/ssim.js";
import { ContentFault, type Judgement, type Picture } from "../value.js";
import { Demands, type GroundImage } from "./ground.js";
import { inRange, rangeText } from "./range.js";

const size = ({ width, height }: Picture): string => `${width} x ${height}`;
const sameSize = (a: Picture, b: Picture): boolean => a.width === b.width && a.height === b.height;

/** Judges a picture. Decodes nothing, but measures every pixel: it belongs into a worker. */
export function judgeImage(assertion: GroundImage, seen: Picture): Judgement {
  const demands = new Demands();
  for (const side of ["width", "height"] as const) {
    const range = assertion[side];
    if (range !== undefined)
      demands.add(inRange(seen[side], range), `${side} ${rangeText(range)}: saw ${seen[side]}`);
  }
  if (assertion.equals !== undefined) judgeEqual(assertion.equals, seen, demands);
  if (assertion.similar !== undefined) judgeSimilar(assertion, assertion.similar, seen, demands);
  for (const region of assertion.regions ?? []) judgeRegion(region, seen, demands);
  return demands.judge();
}

function judgeEqual(wanted: Picture, seen: Picture, demands: Demands): void {
  if (!sameSize(wanted, seen)) {
    demands.add(false, `is ${size(seen)} instead of ${size(wanted)}`);
    return;
  }
  let different = 0;
  for (let at = 0; at < seen.pixels.length; at += 4) {
    const same = [0, 1, 2, 3].every((channel) => seen.pixels[at + channel] === wanted.pixels[at + channel]);
    if (!same) different++;
  }
  const all = seen.width * seen.height;
  demands.add(
    different === 0,
    different === 0 ? `${all} pixels as expected` : `${different} of ${all} pixels differ`,
  );
}

function judgeSimilar(assertion: GroundImage, wanted: Picture, seen: Picture, demands: Demands): void {
  const { min_ssim: least, max_hash_distance: most } = assertion;
  if (least !== undefined) {
    if (sameSize(wanted, seen)) {
      const value = ssimOf(wanted, seen);
      demands.add(value >= least, `structural similarity at least ${least}: saw ${value.toFixed(4)}`);
    } else
      demands.add(false, `is ${size(seen)} instead of ${size(wanted)}: nothing to compare pixel by pixel`);
  }
  if (most !== undefined) {
    const distance = hashDistance(perceptualHash(wanted), perceptualHash(seen));
    demands.add(distance <= most, `hash at most ${most} bits away: saw ${distance}`);
  }
}

function ssimOf(wanted: Picture, seen: Picture): number {
  const { width, height } = seen;
  if (width < WINDOW || height < WINDOW)
    throw new ContentFault(`a picture of ${size(seen)} is smaller than the window of ${WINDOW} x ${WINDOW}`);
  return meanSsim(lumaOf(wanted), lumaOf(seen), width, height);
}

type RegionDemand = NonNullable<GroundImage["regions"]>[number];

function judgeRegion(region: RegionDemand, seen: Picture, demands: Demands): void {
  const place = `${region.width} x ${region.height} at ${region.x}, ${region.y}`;
  if (!holds(seen, region)) {
    demands.add(false, `${place} is not in a picture of ${size(seen)}`);
    return;
  }
  const mean = meanColour(seen, region);
  const wanted = [1, 3, 5].map((at) => Number.parseInt(region.colour.slice(at, at + 2), 16));
  const furthest = Math.max(...mean.map((value, index) => Math.abs(value - (wanted[index] ?? 0))));
  demands.add(
    furthest <= region.tolerance,
    `${place} is ${region.colour} ± ${region.tolerance}: saw ${hexColour(mean)}`,
  );
}
