/** Where on the screen? */
import type { Scenario } from "../../types.js";
import { boxCentre, cornersCentre, gridCell, nudges, slider, snapDrag } from "./boxes.js";
import {
  bottomOrigin,
  pixelRatio,
  scaledDisplay,
  scrolledPage,
  secondScreen,
  windowOffset,
} from "./frames.js";

export const scenarios: readonly Scenario[] = [
  boxCentre,
  cornersCentre,
  gridCell,
  slider,
  nudges,
  snapDrag,
  scaledDisplay,
  windowOffset,
  scrolledPage,
  secondScreen,
  bottomOrigin,
  pixelRatio,
];
