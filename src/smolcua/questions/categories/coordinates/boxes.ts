/** Points of boxes, grids and sliders on one screen. */
import type { Scenario } from "../../types.js";
import { pointDraft } from "./point.js";

const controls = [
  "Save button",
  "Search field",
  "Close cross",
  "Submit button",
  "Menu icon",
  "Play button",
  "Filter list",
  "Help link",
] as const;

/** Slips: the corner, the far corner, half a size too far. */
export const boxCentre: Scenario = {
  name: "box-centre",
  draw(random) {
    const control = random.pick(controls);
    const [left, top] = [random.between(110, 700), random.between(110, 600)];
    const [width, height] = [2 * random.between(10, 120), 2 * random.between(8, 40)];
    const [x, y] = [left + width / 2, top + height / 2];
    return pointDraft(
      `An accessibility tree gives the ${control} the box left=${left}, top=${top}, width=${width}, height=${height}, in pixels of the screen, whose origin is the top left corner.`,
      `At which point is the centre of the ${control}?`,
      { x, y },
      random.pick([
        [
          { x: left + width, y: top + height },
          { x, y: top + height },
          { x: left + width, y },
        ],
        [
          { x: left, y: top },
          { x, y: top },
          { x: left, y },
        ],
        [
          { x: x + width, y: y + height },
          { x, y: y + height },
          { x: x + width, y },
        ],
      ] as const),
    );
  },
};

/** Boxes are also written as two corners: the centre is between them, not half of the second. */
export const cornersCentre: Scenario = {
  name: "corners-centre",
  draw(random) {
    const [x1, y1] = [random.between(110, 500), random.between(110, 400)];
    const [w, h] = [2 * random.between(12, 150), 2 * random.between(10, 90)];
    const [x2, y2] = [x1 + w, y1 + h];
    const [x, y] = [x1 + w / 2, y1 + h / 2];
    const asSize = { x: x1 + Math.floor(x2 / 2), y: y1 + Math.floor(y2 / 2) };
    return pointDraft(
      `A detector reports a ${random.pick(controls)} as the rectangle [${x1}, ${y1}, ${x2}, ${y2}]: left, top, right and bottom in pixels of the screen.`,
      "At which point is the centre of the rectangle?",
      { x, y },
      random.pick([
        [asSize, { x, y: asSize.y }, { x: asSize.x, y }],
        [
          { x: x + w, y: y + h },
          { x, y: y + h },
          { x: x + w, y },
        ],
      ] as const),
    );
  },
};

/** Rows and columns are counted from 1. */
export const gridCell: Scenario = {
  name: "grid-cell",
  draw(random) {
    const [columns, rows] = [random.between(4, 8), random.between(3, 6)];
    const [column, row] = [random.between(2, columns - 1), random.between(2, rows - 1)];
    const size = 2 * random.between(20, 50);
    const [left, top] = [random.between(0, 40) * 5, random.between(0, 40) * 5];
    const at = (c: number, r: number) => ({ x: left + c * size + size / 2, y: top + r * size + size / 2 });
    const right = at(column - 1, row - 1);
    const slip = random.pick([
      at(column, row),
      at(row - 1, column - 1),
      { x: right.x - left, y: right.y - top },
    ]);
    return pointDraft(
      `An icon grid of ${columns} columns and ${rows} rows has square cells of ${size} pixels without gaps; its top left corner is at (${left}, ${top}). Columns are counted from the left and rows from the top, both from 1.`,
      `Where is the centre of the cell in column ${column}, row ${row}?`,
      right,
      [slip, { x: right.x, y: slip.y }, { x: slip.x, y: right.y }],
    );
  },
};

/** A slider's handle moves along its track in proportion to the value. */
export const slider: Scenario = {
  name: "slider",
  draw(random) {
    const low = random.between(0, 4) * 10;
    const span = random.pick([40, 50, 80, 100, 200]);
    const percent = random.between(2, 18) * 5;
    const value = low + (span * percent) / 100;
    const length = random.between(2, 9) * 100;
    const left = random.between(4, 80) * 5;
    const y = random.between(60, 700);
    const thick = 2 * random.between(3, 10);
    const right = { x: left + (length * percent) / 100, y: y + thick / 2 };
    const slip = random.pick([
      { x: left + (length * (100 - percent)) / 100, y },
      { x: (length * percent) / 100, y },
      { x: left + (length * value) / 100, y: y + thick },
    ]);
    return pointDraft(
      `A horizontal slider runs from ${low} at its left end to ${low + span} at its right end. Its track is a box with left=${left}, top=${y}, width=${length}, height=${thick}.`,
      `Which point on the middle line of the track stands for the value ${value}?`,
      right,
      [slip, { x: right.x, y: slip.y }, { x: slip.x, y: right.y }],
    );
  },
};

/** Arrow keys move by one pixel, with Shift by ten, and never past the edge. */
export const nudges: Scenario = {
  name: "nudges",
  draw(random) {
    const [width, height] = [random.between(20, 60) * 10, random.between(15, 45) * 10];
    const start = { x: random.between(30, width - 30), y: random.between(5, 120) };
    const [rights, ups, shifted] = [random.between(2, 9), random.between(3, 9), random.between(1, 8)];
    const up = ups + 10 * shifted;
    const x = start.x + rights;
    const y = Math.max(0, start.y - up);
    const slipY = random.pick([start.y + up, Math.max(0, start.y - ups - shifted), Math.abs(start.y - up)]);
    const slipX = random.pick([start.x - rights, start.x + 10 * rights]);
    return pointDraft(
      `A drawing of ${width} by ${height} pixels has its origin at the top left; x grows to the right and y downwards. Arrow keys move the selected point by 1 pixel, with Shift by 10; at an edge it stops. The point is at (${start.x}, ${start.y}). Right is pressed ${rights} times, Up ${ups} times, and Shift+Up ${shifted === 1 ? "once" : `${shifted} times`}.`,
      "Where is the point afterwards?",
      { x, y },
      [
        { x, y: slipY },
        { x: slipX, y },
        { x: slipX, y: slipY },
      ],
    );
  },
};

/** What is dragged snaps to the nearest line of the grid. */
export const snapDrag: Scenario = {
  name: "snap-drag",
  draw(random) {
    const grid = random.pick([8, 10, 16, 20, 25]);
    const start = { x: grid * random.between(2, 20), y: grid * random.between(2, 15) };
    const offset = () =>
      random.pick([-1, 1]) *
      (grid * random.between(1, 6) + random.pick([-1, 1]) * random.between(1, Math.floor(grid / 2) - 1));
    const [dx, dy] = [offset(), offset()];
    const snap = (value: number) => Math.round(value / grid) * grid;
    const free = { x: start.x + dx, y: start.y + dy };
    const right = { x: snap(free.x), y: snap(free.y) };
    const slip = random.pick([
      free,
      { x: Math.floor(free.x / grid) * grid, y: Math.ceil(free.y / grid) * grid },
    ]);
    const other = slip.x === right.x || slip.y === right.y ? free : slip;
    return pointDraft(
      `A canvas snaps what is dropped to the nearest point of a grid whose lines are ${grid} pixels apart, beginning at 0 on both axes. A box whose corner is at (${start.x}, ${start.y}) is dragged by (${dx}, ${dy}) and dropped.`,
      "Where is the corner of the box afterwards?",
      right,
      [other, { x: right.x, y: other.y }, { x: other.x, y: right.y }],
    );
  },
};
