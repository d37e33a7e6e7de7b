/** Keys, panes and menus: the way to what is wanted. */
import { crossedSides, pooled, sides } from "../../drafts.js";
import type { Scenario } from "../../types.js";
import { cities, fileNames, folderNames, numbered, people, plainWords } from "../../words.js";

/** Which key opens and which one picks differs from program to program. */
export const menuKeys: Scenario = {
  name: "menu-keys",
  draw(random) {
    const [menu = "", entry = "", leaf = ""] = random.some(
      ["File", "Export", "Print", "Layout", "Share", "Options", "Insert", "Tools", "Page", "Theme"],
      3,
    );
    const [opens = "", picks = ""] = random.some(["Space", "Enter", "F8", "F10"], 2);
    const open = random.chance(0.5);
    return crossedSides({
      situation: `A program is used by keyboard. In its menus ${opens} opens the marked entry's submenu, if it has one, and ${picks} picks the marked entry, if it has none; otherwise they do nothing. The command ${menu} > ${entry} > ${leaf} is wanted. The menu ${menu} is open${open ? `, the submenu of its entry ${entry} as well, and in it ${leaf} is marked` : `; in it ${entry} is marked, whose submenu is not open yet`}.`,
      question: "Which key is to be pressed next, and on which entry does it act?",
      fields: ["key", "entry"],
      first: sides(open, picks, opens),
      second: sides(open, leaf, entry),
      say: (key, on) => `${key} on ${on}`,
    });
  },
};

/** Where the list is sorted the other way, one scrolls the other way. */
export const scrolling: Scenario = {
  name: "scrolling",
  draw(random) {
    const sorted = [...cities].sort();
    const [goal, ascending, left] = [random.chance(0.5), random.chance(0.5), random.chance(0.5)];
    const from = random.between(3, sorted.length - 6);
    const seen = sorted.slice(from, from + 3);
    const target = goal ? random.pick(sorted.slice(from + 3)) : random.pick(sorted.slice(0, from));
    if (!ascending) seen.reverse();
    const others = random.some(plainWords, 3).sort();
    const [leftKind, rightKind] = sides(left, "cities", "codes");
    const rows = (kind: string) => (kind === "cities" ? seen : others).join(", ");
    const side = left ? "left" : "right";
    return crossedSides({
      situation: `A window has two lists, a list of ${leftKind} on the left and a list of ${rightKind} on the right. The list of cities is sorted from ${ascending ? "A at the top to Z at the bottom" : "Z at the top to A at the bottom"} and has more rows than are seen in either direction. On the left these rows are seen: ${rows(leftKind)}; on the right these: ${rows(rightKind)}. Scrolling down brings the rows below those that are seen. The city ${target} is to be clicked; it is in the list but not seen.`,
      question: "Which list is to be scrolled next, and in which direction?",
      fields: ["list", "direction"],
      first: [side, left ? "right" : "left"],
      second: sides(goal === ascending, "down", "up"),
      say: (list, direction) => `list: ${list}, direction: ${direction}`,
    });
  },
};

/** What is disabled is skipped, and Shift goes back. */
export const tabKeys: Scenario = {
  name: "tab-keys",
  draw(random) {
    const controls = random.some(
      ["Name", "City", "Street", "Phone", "Email", "Title", "Note", "Date", "Code", "Team"],
      7,
    );
    const steps = random.between(2, 4);
    const low = random.between(0, 6 - steps);
    const [forward, between] = [random.chance(0.5), random.chance(0.5)];
    const [start, end] = sides(forward, low, low + steps);
    const outside = controls.map((_, at) => at).filter((at) => at < low || at > low + steps);
    const disabled = between ? random.between(low + 1, low + steps - 1) : random.pick(outside);
    const times = between ? steps - 1 : steps;
    return crossedSides({
      situation: `A form has these fields, in the order of the Tab key: ${controls.join(", ")}. Tab goes to the next field, Shift+Tab to the one before; both skip a field that is disabled, and neither goes beyond the first or the last. ${controls[disabled] ?? ""} is disabled. The cursor is in ${controls[start] ?? ""}, and the next text belongs into ${controls[end] ?? ""}. The pointer does not work.`,
      question: "Which key is to be pressed before typing, and how often?",
      fields: ["key", "times"],
      first: sides(forward, "Tab", "Shift+Tab"),
      second: [String(times), String(between ? steps : steps - 1)],
      say: (key, n) => `${key}, times: ${n}`,
    });
  },
};

/** A file manager by keyboard: what has been done decides what is left. */
export const cutPaste: Scenario = {
  name: "cut-paste",
  draw(random) {
    const [file = "", decoy = ""] = random.some(fileNames, 2);
    const [from = "", one = "", two = ""] = random.some(folderNames, 3);
    const [moves, taken, first] = [random.chance(0.5), random.chance(0.5), random.chance(0.5)];
    const events = [
      `The folder ${from} is opened, and ${decoy} is marked.`,
      `${decoy} is no longer marked, ${file} is.`,
      taken
        ? `${moves ? "Ctrl+X" : "Ctrl+C"} is pressed on ${file}.`
        : `Ctrl is pressed and released without another key; ${file} stays marked.`,
    ];
    return pooled({
      situation: `${file} is to be ${moves ? `in ${first ? one : two} and no longer in ${from}` : `both in ${from} and in ${first ? one : two}`}. Ctrl+X takes the marked file to be moved and Ctrl+C to be copied; Ctrl+V in a folder then puts it there. All three folders, ${from}, ${one} and ${two}, are open in windows of their own and need no opening. So far:\n${numbered(events)}`,
      question: "What is the next action?",
      fields: ["key", "place"],
      options: [
        ["Ctrl+X", file],
        ["Ctrl+C", file],
        ["Ctrl+V", one],
        ["Ctrl+V", two],
      ],
      right: taken ? (first ? 2 : 3) : moves ? 0 : 1,
      say: (key, place) => `${key} on ${place}`,
    });
  },
};

/** Waiting has an end, and a page may be somebody else's. */
export const loadingPage: Scenario = {
  name: "loading-page",
  draw(random) {
    const [own = "", other = ""] = random.some(people, 2);
    const [page, limit] = [random.pick(plainWords), random.between(10, 60)];
    const right = random.below(4);
    const waited = right === 0 ? limit - random.between(2, 8) : limit + random.between(2, 30);
    const user = right === 3 || (right < 2 && random.chance(0.3)) ? other : own;
    const state =
      right < 2
        ? `The page shows a turning wheel in place of its table and has done so for ${waited} seconds since it was last loaded`
        : `The page shows its table and has done so for ${waited} seconds`;
    return pooled({
      situation: `The table ${page} of the user ${own} is to be exported by the button Export. Rules: while a page shows a turning wheel, one awaits the table up to ${limit} seconds after it was loaded, and beyond that reloads it; the user's name is dealt with only after the wheel is gone. Under a wrong name nothing is exported: first the user has to be changed by the button User. ${state}. The name at the top is ${user}.`,
      question: "What is the next action?",
      fields: ["action", "target"],
      options: [
        ["await", "table"],
        ["reload", "page"],
        ["click", "Export"],
        ["click", "User"],
      ],
      right,
    });
  },
};
