/** Which things does a request mean, and how many? */
import { crossedTexts } from "../../crossed.js";
import type { Candidate, Scenario } from "../../types.js";
import { people } from "../../words.js";

/** Words without a number: the view decides which things, the word "all" decides whose. */
export const scopeWords: Scenario = {
  name: "scope-words",
  draw(random) {
    const things = random.pick(["drafts", "photos", "letters", "tasks", "notes", "songs"]);
    const verb = random.pick(["Delete", "Archive", "Print", "Export", "Tag"]);
    const who = random.pick(people);
    const [ticked, tickedOthers, shown, shownOthers] = [
      random.between(4, 9),
      random.between(1, 3),
      random.between(11, 19),
      random.between(1, 8),
    ];
    const list = random.chance(0.5);
    const all = random.chance(0.5);
    const locked = random.chance(0.5);
    const option = (inList: boolean, others: boolean): Candidate => {
      const count = inList ? ticked - (others ? 0 : tickedOthers) : shown - (others ? 0 : shownOthers);
      const which = inList ? "ticked" : "shown";
      return { text: `${count} of the ${which} ${things}`, values: [which, String(count)] };
    };
    const others = all && !locked;
    return {
      situation: `House rule: "A plural without a number means, in the list view, what is ticked, and in the gallery view, what is shown. It leaves out what belongs to others, unless the request says 'all' and the others have not locked theirs." ${who} has the ${list ? "list" : "gallery"} view open. ${ticked} ${things} are ticked, of which ${tickedOthers === 1 ? "1 belongs" : `${tickedOthers} belong`} to others; ${shown} other ${things} are shown, of which ${shownOthers === 1 ? "1 belongs" : `${shownOthers} belong`} to others. The others have ${locked ? "locked theirs" : "not locked theirs"}. ${who} says: "${verb} ${all ? "all the" : "the"} ${things}."`,
      question: `How many and which ${things} does ${who} mean?`,
      fields: ["which", "count"],
      right: option(list, others),
      wrong: [option(!list, others), option(list, !others), option(!list, !others)],
    };
  },
};

/** What is said of a meeting, and a clause that fits those of which it holds, and one for the others. */
const marks = [
  [
    "in a room with a projector",
    "in a room without a projector",
    "where I can show slides",
    "where I cannot show slides",
  ],
  [
    "in a room for twelve",
    "in a room for three",
    "where six of us find a seat",
    "where six of us find no seat",
  ],
  [
    "on the ground floor",
    "on the third floor, which has no lift",
    "that needs no stairs",
    "that needs stairs",
  ],
  ["by video", "in a meeting room", "that I can join from home", "that I cannot join from home"],
  ["in the garden", "in the hall", "that rain would spoil", "that rain would not spoil"],
  ["over lunch", "without food", "where I get something to eat", "where I get nothing to eat"],
] as const;

/** Two fit the name, one fits what else is said. */
export const tellingClause: Scenario = {
  name: "telling-clause",
  draw(random) {
    const [name = "", other = "", asking = ""] = random.some(people, 3);
    const [day1 = "", day2 = ""] = random.some(["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"], 2);
    const [hour1 = 0, hour2 = 0] = random.some([9, 10, 11, 12, 13, 14, 15, 16], 2);
    const [yes, no, fits, fitsNot] = random.pick(marks);
    const positive = random.chance(0.5);
    const slots = random.shuffled([
      [day1, hour1],
      [day1, hour2],
      [day2, hour1],
      [day2, hour2],
    ] as const);
    const kinds = [
      [name, yes],
      [name, no],
      [other, yes],
      [other, no],
    ] as const;
    const lines = slots.map(
      ([day, hour], at) => `${day} at ${hour}:00 with ${kinds[at]?.[0] ?? ""}, ${kinds[at]?.[1] ?? ""}`,
    );
    const options = slots.map(
      ([day, hour]): Candidate => ({ text: `the one on ${day} at ${hour}:00`, values: [day, `${hour}:00`] }),
    );
    const [a, b, c, d] = options as [Candidate, Candidate, Candidate, Candidate];
    const verb = random.pick(["Cancel", "Confirm", "Move", "Shorten"]);
    return {
      situation: `The calendar of ${asking} has these meetings: ${random.shuffled(lines).join("; ")}. ${asking} says: "${verb} my meeting with ${name}, the one ${positive ? fits : fitsNot}."`,
      question: `Which meeting does ${asking} mean?`,
      fields: ["day", "time"],
      right: positive ? a : b,
      wrong: positive ? [b, c, d] : [a, c, d],
    };
  },
};

/** "Bigger": which thing, and by how much? */
export const looseSizes: Scenario = {
  name: "loose-sizes",
  draw(random) {
    const resizable = ["picture", "table", "heading", "chart", "map", "text box"];
    const fixed = ["page number", "date stamp", "logo", "watermark", "signature"];
    const [a = "", b = ""] = random.some(resizable, 2);
    const focusFits = random.chance(0.5);
    const focused = focusFits ? a : random.pick(fixed);
    const rightThing = focusFits ? a : b;
    const slipThing = focusFits ? b : focused;
    const [few = 0, usual = 0, many = 0] = random.pick([
      [1, 2, 4],
      [1, 3, 5],
      [2, 4, 6],
      [1, 3, 6],
    ] as const);
    const [word, steps] = random.pick([
      [" a bit", few],
      ["", usual],
      [" much", many],
    ] as const);
    const large = random.chance(0.5);
    const way = random.pick(["bigger", "smaller"]);
    const doubled = large && way === "bigger";
    const count = doubled ? 2 * steps : steps;
    const slip = random.pick([doubled ? steps : 2 * steps, ...[few, many].filter((one) => one !== count)]);
    return crossedTexts({
      situation: `House rule: "'Bigger' and 'smaller' are said of the thing with the focus, if its size can be changed, otherwise of the thing whose size was changed last. 'A bit' is ${few === 1 ? "1 step" : `${few} steps`}, 'much' is ${many} steps, neither of them is ${usual} steps; on a large screen, 'bigger' counts double." On a ${large ? "large" : "small"} screen the ${focused} has the focus${focusFits ? "" : "; its size cannot be changed"}. The size of the ${b} was changed last. ${random.pick(people)} says: "Make it${word} ${way}."`,
      question: "Of which thing does the size change, and by how many steps?",
      fields: ["thing", "steps"],
      say: (thing, number) => `the ${thing}, by ${number === "1" ? "1 step" : `${number} steps`}`,
      right: [rightThing, String(count)],
      slip: [slipThing, String(slip)],
    });
  },
};
