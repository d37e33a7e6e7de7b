/** When to ask, whom, and about what; when to act without asking. */
import { crossedTexts } from "../../crossed.js";
import type { Candidate, Scenario } from "../../types.js";
import { people, plainWords } from "../../words.js";

/** Slips: the newest one although the rule wants a question, a question although the rule decides. */
export const likeNamed: Scenario = {
  name: "like-named",
  draw(random) {
    const limit = random.between(3, 14);
    const ask = "ask which one";
    const kinds = random.some(["budget", "agenda", "invoice", "letter", "recipe", "contract", "poster"], 2);
    const facts: string[] = [];
    const picked = kinds.map((kind) => {
      const [one, two] = random.some(plainWords, 2).map((word) => `${kind}-${word}`) as [string, string];
      const recent = random.pick([0, 1, 1, 2]);
      const newer = recent === 0 ? limit + random.between(1, 5) : random.between(1, limit - 1);
      const older =
        recent === 2 ? random.between(newer + 1, limit) : Math.max(newer, limit) + random.between(1, 9);
      const changed = [`${one} ${newer === 1 ? "1 day" : `${newer} days`} ago`, `${two} ${older} days ago`];
      facts.push(random.shuffled(changed).join(", "));
      return recent === 1 ? { right: one, slip: random.pick([ask, ask, two]) } : { right: ask, slip: one };
    });
    const [first, second] = picked as [(typeof picked)[0], (typeof picked)[0]];
    const [a = "", b = ""] = kinds;
    return crossedTexts({
      situation: `House rule: "If several files fit a request, take the one that was changed ${limit} days ago or less, if exactly one of them was. Otherwise ask." The request: "Send ${random.pick(people)} the ${a}, and print the ${b}." The files that fit, and when they were changed: ${facts.join("; ")}.`,
      question: `What does the house rule say for the ${a} and for the ${b}?`,
      fields: ["first_file", "second_file"],
      say: (one, two) => `for the ${a}: ${one}; for the ${b}: ${two}`,
      right: [first.right, second.right],
      slip: [first.slip, second.slip],
    });
  },
};

/** Only what is open and changes the result is worth a question. */
export const openDetail: Scenario = {
  name: "open-detail",
  draw(random) {
    const [traveller = "", deputy = ""] = random.some(people, 2);
    const details = random.some(
      ["day", "train", "seat", "luggage", "meal", "hotel", "station", "discount card"],
      3,
    );
    const settled = random.some(
      [
        "the profile has one entry",
        "the profile has two entries, and the calendar says which of them holds",
        "the profile has two entries, which lead to the same booking",
        "the profile has no entry, and the calendar has one",
        "the profile has no entry, and the booking form does not have it either",
      ],
      2,
    );
    const open = random.pick([
      "the profile has two entries, which lead to different bookings",
      "the profile has no entry, nor has the calendar, and the booking form wants one",
      "the profile has an entry that is marked as out of date, and the booking form wants a new one",
    ]);
    const lines = details.map((detail, at) => `For the ${detail} ${settled[at] ?? open}.`);
    const wanted = details[2] ?? "";
    const tempting = random.pick(details.slice(0, 2));
    const away = random.chance(0.5);
    const sent = random.between(9, 12);
    const hours = random.between(2, 5);
    const back = away ? sent + hours + random.between(1, 3) : sent + random.between(1, hours);
    return crossedTexts({
      situation: `House rule: "Ask about a detail of a booking only if profile and calendar do not settle it and the booking depends on it. Ask the one who travels, or the deputy if the one who travels cannot answer within ${hours} hours." ${traveller}, whose deputy is ${deputy}, wants a trip booked at ${sent}:00 and can answer from ${back}:00 on. ${random.shuffled(lines).join(" ")}`,
      question: "Who is asked, and about what?",
      fields: ["person", "detail"],
      say: (person, detail) => `ask ${person} about the ${detail}`,
      right: [away ? deputy : traveller, wanted],
      slip: [away ? traveller : deputy, tempting],
    });
  },
};

const deeds = [
  "delete the old photos",
  "cancel the order",
  "archive the letters",
  "publish the page",
  "rename the folder",
  "send the invoice",
  "move the meeting",
  "close the account",
  "renew the licence",
  "merge the lists",
] as const;

/** Doubt alone is no reason to ask, and certainty no reason not to. */
export const undoable: Scenario = {
  name: "undoable",
  draw(random) {
    const limit = 5 * random.between(4, 30);
    const [ask, act] = ["ask first", "act at once"];
    const chosen = random.some(deeds, 2);
    const cases = chosen.map(() => {
      const readings = random.chance(0.5) ? 2 : 1;
      const undone = random.chance(0.5);
      const dear = random.chance(0.25);
      const cost = dear ? limit + random.between(1, 40) : random.below(limit + 1);
      return { readings, undone, cost, asks: dear || (readings === 2 && !undone) };
    });
    const lines = cases.map(
      ({ readings, undone, cost }, at) =>
        `"${chosen[at] ?? ""}" has ${readings === 2 ? "two readings" : "one reading"}, ${undone ? "can" : "cannot"} be undone and costs ${cost === 0 ? "nothing" : `${cost} euros`}`,
    );
    const [one = false, two = false] = cases.map(({ asks }) => asks);
    const [a = "", b = ""] = chosen;
    return crossedTexts({
      situation: `House rule: "Ask before you do something that has more than one reading and cannot be undone, and before anything that costs more than ${limit} euros. Do everything else at once." In one request, ${lines.join("; ")}.`,
      question: `Which is right for "${a}" and which for "${b}"?`,
      fields: ["first_action", "second_action"],
      say: (x, y) => `${a}: ${x}; ${b}: ${y}`,
      right: [one ? ask : act, two ? ask : act],
      slip: [one ? act : ask, two ? act : ask],
    });
  },
};

/** What can be found out need not be asked; four places in a fixed order, each the right one at times. */
export const lookedUp: Scenario = {
  name: "looked-up",
  draw(random) {
    const [author = "", deputy = "", asking = ""] = random.some(people, 3);
    const thing = random.pick(["room", "phone number", "address", "price", "door code", "start time"]);
    const [source = "", other = ""] = random.some(["calendar", "directory", "handbook", "log book"], 2);
    const limit = random.between(5, 40);
    const outcome = random.below(4);
    const fresh = (): number => random.between(2, limit);
    const stale = (): number => limit + random.between(1, 12);
    const ages = [
      outcome === 0 ? fresh() : stale(),
      outcome === 1 || (outcome === 0 && random.chance(0.5)) ? fresh() : stale(),
    ];
    const present = outcome === 2 || (outcome < 2 && random.chance(0.5));
    const options: Candidate[] = [
      { text: `take it from the ${source}`, values: ["take", source] },
      { text: `take it from the ${other}`, values: ["take", other] },
      { text: `ask ${author} about the ${thing}`, values: ["ask", author] },
      { text: `ask ${deputy} about the ${thing}`, values: ["ask", deputy] },
    ];
    const right = options[outcome] as Candidate;
    const wrong = options.filter((option) => option !== right) as [Candidate, Candidate, Candidate];
    const facts = [
      `The ${source} has two entries for it, of which the newer was made ${ages[0] ?? 0} days ago.`,
      `The ${other} has one entry for it, which was made ${ages[1] ?? 0} days ago.`,
      `${author}, who makes all the entries, is ${present ? "at work" : "away"} today; ${deputy} is the deputy.`,
    ];
    return {
      situation: `House rule: "If a request leaves something open, take the newest entry of the ${source} that is at most ${limit} days old; if it has none, that of the ${other}, if at most ${limit} days old. Ask only if neither has one: whoever makes the entries, or the deputy, if that person is away." ${asking} says: "Please put the ${thing} into the invitation." ${random.shuffled(facts).join(" ")}`,
      question: `What is done about the ${thing}?`,
      fields: ["move", "where"],
      right,
      wrong,
    };
  },
};
