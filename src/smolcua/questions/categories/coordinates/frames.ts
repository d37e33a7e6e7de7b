/** The same point in another frame: screens, windows, pages, scales. */
import type { Scenario } from "../../types.js";
import { type Point, pointDraft } from "./point.js";

/** Right, and a slip on either axis or both: no option stands out by what it shares with the others. */
const crossed = (right: Point, slip: Point) =>
  [slip, { x: right.x, y: slip.y }, { x: slip.x, y: right.y }] as const;

/** The original target is always stated. */
export const scaledDisplay: Scenario = {
  name: "scaled-display",
  draw(random) {
    const [from, to, num, den] = random.pick([
      [1920, 1280, 2, 3],
      [2560, 1280, 1, 2],
      [1920, 960, 1, 2],
      [3840, 1280, 1, 3],
      [1600, 800, 1, 2],
      [1280, 1920, 3, 2],
    ] as const);
    const unit = num * den;
    const target = { x: unit * random.between(10, 200), y: unit * random.between(10, 110) };
    const scale = (value: number) => (value * num) / den;
    const back = (value: number) => (value * den) / num;
    const right = { x: scale(target.x), y: scale(target.y) };
    const slip = random.chance(0.5)
      ? { x: back(target.x), y: back(target.y) }
      : { x: Math.abs(target.x - Math.abs(from - to)), y: Math.abs(target.y - Math.abs(from - to)) };
    return pointDraft(
      `A screen is ${from} pixels wide. A model sees its screenshot scaled to a width of ${to} pixels, with the same aspect ratio, and must answer in pixels of what it sees. On the screen itself the target is at (${target.x}, ${target.y}).`,
      "At which point of the scaled screenshot is the target?",
      right,
      crossed(right, slip),
    );
  },
};

/** Screen to window: subtract; window to screen: add. */
export const windowOffset: Scenario = {
  name: "window-offset",
  draw(random) {
    const origin = { x: random.between(30, 500), y: random.between(30, 300) };
    const inside = { x: random.between(20, 400), y: random.between(20, 300) };
    const bar = random.between(20, 40);
    const screen = { x: origin.x + inside.x, y: origin.y + bar + inside.y };
    const slip = random.pick([
      { x: inside.x, y: origin.y + inside.y },
      { x: Math.abs(origin.x - inside.x), y: origin.y + inside.y },
      { x: inside.x, y: bar + inside.y },
    ]);
    return pointDraft(
      `The top left corner of a window is at (${origin.x}, ${origin.y}) on the screen. Its title bar is ${bar} pixels high and as wide as the window; the content begins directly below it and has a frame of its own. In the content a button is at (${inside.x}, ${inside.y}).`,
      "Where on the screen is the button?",
      screen,
      crossed(screen, slip),
    );
  },
};

/** What is scrolled stands higher by as much. */
export const scrolledPage: Scenario = {
  name: "scrolled-page",
  draw(random) {
    const scroll = { x: random.between(2, 30) * 10, y: random.between(10, 200) * 10 };
    const view = { x: random.between(50, 900), y: random.between(50, 600) };
    const page = { x: view.x + scroll.x, y: view.y + scroll.y };
    const toView = random.chance(0.5);
    const [given, right] = toView ? [page, view] : [view, page];
    const sign = toView ? 1 : -1;
    const slip = random.chance(0.5) ? given : { x: given.x + sign * scroll.x, y: given.y + sign * scroll.y };
    return pointDraft(
      `A page is scrolled by ${scroll.x} pixels to the right and ${scroll.y} pixels down; the top left corner of the view shows what is at (${scroll.x}, ${scroll.y}) of the page. ${toView ? `An element is at (${given.x}, ${given.y}) of the page.` : `The pointer is at (${given.x}, ${given.y}) of the view.`}`,
      toView ? "Where in the view is the element?" : "At which point of the page is the pointer?",
      right,
      crossed(right, slip),
    );
  },
};

/** A second screen's frame begins where the first ends. */
export const secondScreen: Scenario = {
  name: "second-screen",
  draw(random) {
    const [width, height] = random.pick([
      [1920, 1080],
      [1280, 720],
      [2560, 1440],
      [1366, 768],
    ] as const);
    const drop = random.between(2, 20) * 10;
    const local = { x: random.between(50, 1000), y: random.between(50, 600) };
    const right = { x: width + local.x, y: drop + local.y };
    const slip = random.pick([
      { x: local.x, y: local.y },
      { x: width - local.x, y: height + local.y },
      { x: local.x, y: height + local.y },
    ]);
    return pointDraft(
      `The first screen has ${width} by ${height} pixels and its top left corner at (0, 0) of the desktop. The second stands directly right of it, its top edge ${drop} pixels lower. On the second screen a dialog is at (${local.x}, ${local.y}), counted from that screen's own top left corner.`,
      "Where on the desktop is the dialog?",
      right,
      crossed(right, slip),
    );
  },
};

/** Some tools count y from the bottom. */
export const bottomOrigin: Scenario = {
  name: "bottom-origin",
  draw(random) {
    const [width, height] = [random.between(60, 160) * 10, random.between(40, 100) * 10];
    const point = { x: random.between(30, width - 30), y: random.between(30, height - 30) };
    const right = { x: point.x, y: height - point.y };
    const mirrored = { x: width - point.x, y: point.y };
    return pointDraft(
      `A tool counts pixels of a ${width} by ${height} screenshot from its bottom left corner, upwards, and reports (${point.x}, ${point.y}). A click command counts from the top left corner, downwards, and takes a point of the bottom edge to have y=${height}.`,
      "At which point must the click be?",
      right,
      [mirrored, { x: point.x, y: point.y }, { x: mirrored.x, y: right.y }],
    );
  },
};

/** CSS pixels times the ratio are the screen's; the other way they are divided. */
export const pixelRatio: Scenario = {
  name: "pixel-ratio",
  draw(random) {
    const ratio = random.pick([2, 3, 4]);
    const css = { x: random.between(20, 640), y: random.between(20, 400) };
    const device = { x: css.x * ratio, y: css.y * ratio };
    const toDevice = random.chance(0.5);
    const [given, right] = toDevice ? [css, device] : [device, css];
    const slip = random.chance(0.5)
      ? given
      : toDevice
        ? { x: css.x * (ratio + 1), y: css.y * (ratio + 1) }
        : { x: Math.abs(device.x - ratio * 100), y: Math.abs(device.y - ratio * 100) };
    return pointDraft(
      `A page is shown with a device pixel ratio of ${ratio}, unscrolled and in full screen. ${toDevice ? `The page's script reports an element at (${given.x}, ${given.y}) in CSS pixels; the click command takes pixels of the device.` : `A screenshot shows an element at (${given.x}, ${given.y}) in pixels of the device; the script that clicks takes CSS pixels.`}`,
      "Which point must be clicked?",
      right,
      crossed(right, slip),
    );
  },
};
