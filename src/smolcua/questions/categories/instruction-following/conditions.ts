/** Instructions whose conditions and exceptions decide what is done. */
import { crossedTexts } from "../../crossed.js";
import type { Random } from "../../random.js";
import type { Scenario } from "../../types.js";
import { cities, fileNames, folderNames, people } from "../../words.js";

const ending = (name: string): string => name.slice(name.lastIndexOf("."));

/** Slips: the limit of the other kind, a limit that is reached and not exceeded, the exception forgotten. */
export const agedFiles: Scenario = {
  name: "aged-files",
  draw(random) {
    const special = random.pick(fileNames);
    const plain = random.pick(fileNames.filter((name) => ending(name) !== ending(special)));
    const [folder = "", archive = ""] = random.some(folderNames, 2);
    const limit = 5 * random.between(3, 12);
    const [deleted, left, moved] = ["deleted", "left alone", `moved to ${archive}`];
    const [plainAge, plainEnd, plainSlip] = random.pick([
      [limit - random.below(4), left, deleted],
      [limit + random.between(1, limit), deleted, random.pick([left, moved])],
    ] as const);
    const [specialAge, specialEnd, specialSlip] = random.pick([
      [2 * limit - random.below(limit), left, random.pick([deleted, moved])],
      [2 * limit + random.between(1, 9), moved, random.pick([deleted, left])],
    ] as const);
    const ages = [
      `${plain} was opened ${plainAge} days ago for the last time`,
      `${special} was opened ${specialAge} days ago for the last time`,
    ];
    return crossedTexts({
      situation: `The instruction for the folder ${folder}: "Delete each file that has not been opened for more than ${limit} days. Files that end in ${ending(special)} are never deleted: move one of them to ${archive} when it has not been opened for more than ${2 * limit} days. Leave all others alone." In ${folder}, ${random.shuffled(ages).join(", and ")}.`,
      question: `What becomes of ${plain} and of ${special}?`,
      fields: ["first_file", "second_file"],
      say: (one, two) => `${plain} is ${one}, ${special} is ${two}`,
      right: [plainEnd, specialEnd],
      slip: [plainSlip, specialSlip],
    });
  },
};

/** Slips: the page that Next leaves out is counted, the limit is not kept. */
export const limitedPresses: Scenario = {
  name: "limited-presses",
  draw(random) {
    const wanted = random.pick(people);
    const start = random.between(1, 30);
    const needed = random.between(4, 9);
    const page = start + needed + 1;
    const left = random.between(start + 1, page - 1);
    const found = random.chance(0.5);
    const limit = found ? needed + random.below(3) : needed - random.between(1, 2);
    const [yes, no] = random.some(["Save", "Print", "Cancel", "Export", "Report", "Submit"], 2) as [
      string,
      string,
    ];
    const count = found ? needed : limit;
    const slip = found ? random.pick([needed + 1, needed - 1]) : random.pick([needed, limit + 1, limit - 1]);
    return crossedTexts({
      situation: `The instruction: "Press Next until the page with ${wanted} is shown, but not more than ${limit} times. Press ${yes} as soon as it is shown, or ${no} if it is not shown by then. Press nothing else." Page ${start} is shown now, ${wanted} is on page ${page}. Each press of Next shows the following page, except that page ${left} does not exist: from the page before it, Next leads to the page after it.`,
      question: "How often is Next pressed, and which button after it?",
      fields: ["times", "button"],
      say: (times, button) => `Next ${times} times, then ${button}`,
      right: [String(count), found ? yes : no],
      slip: [String(slip), found ? no : yes],
    });
  },
};

const week = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"] as const;

/** The hour depends on the day that the first rule has given. */
export const shiftedReminder: Scenario = {
  name: "shifted-reminder",
  draw(random) {
    const [home = "", away = ""] = random.some(cities, 2);
    const amount = 10 * random.between(20, 90);
    const large = random.chance(0.5);
    const limit = large ? amount - 10 * random.below(15) - 5 : amount + 10 * random.below(15);
    const due = random.pick(["Friday", "Saturday", "Friday", "Saturday", "Thursday", "Tuesday"] as const);
    const after = week[(week.indexOf(due) + 1) % 7] ?? "";
    const weekend = after.startsWith("S");
    const [day, otherDay] = weekend
      ? large
        ? ["Friday", "Monday"]
        : ["Monday", "Friday"]
      : [after, random.pick(week.slice(0, 5).filter((one) => one !== after))];
    const abroad = random.chance(0.6);
    const early = random.between(7, 10);
    const late = random.between(13, 17);
    const hour = abroad && day !== "Friday" ? late : early;
    const other = hour === late ? early : late;
    return crossedTexts({
      situation: `The instruction: "Send the reminder on the day after the invoice is due. If that is a Saturday or a Sunday, send it on the Monday after it, or, if the invoice is for more than ${limit} euros, on the Friday before it. Send it at ${early}:00; to customers outside ${home} at ${late}:00, except on Fridays, when all are sent at ${early}:00." An invoice for ${amount} euros to a customer in ${abroad ? away : home} is due on a ${due}.`,
      question: "On which day and at what time is the reminder sent?",
      fields: ["day", "time"],
      say: (when, time) => `on ${when} at ${time}`,
      right: [day, `${hour}:00`],
      slip: [otherDay, `${other}:00`],
    });
  },
};

interface Claim {
  kind: string;
  amount: number;
  receipt: boolean;
}

/** Slips: one of the three rules is forgotten. */
export const expenseClaim: Scenario = {
  name: "expense-claim",
  draw(random) {
    const [who = "", manager = "", office = "", desk = ""] = random.some(people, 4);
    const [city = "", elsewhere = ""] = random.some(cities, 2);
    const small = random.between(15, 35);
    const limit = 10 * random.between(8, 15);
    const travelLimit = 3 * limit;
    const claim = drawClaim(random, small, limit);
    const [approve, forward, giveBack] = ["approved", `passed on to ${manager}`, "sent back"];
    const rule = ({ kind, amount, receipt }: Claim): string => {
      if (!receipt && amount > small) return giveBack;
      return amount > (kind === "travel" ? travelLimit : limit) ? forward : approve;
    };
    const action = rule(claim);
    const from = random.pick([city, elsewhere]);
    const told = action !== giveBack && from === city ? office : desk;
    return crossedTexts({
      situation: `The instruction: "Claims of up to ${limit} euros are approved, larger ones are passed on to ${manager}; for travel the limit is ${travelLimit} euros. Whatever its kind, a claim of more than ${small} euros without a receipt is sent back instead. Tell ${office} about claims from ${city}, unless they are sent back; tell ${desk} about all the rest." ${who} in ${from} claims ${claim.amount} euros for ${claim.kind}, ${claim.receipt ? "with" : "without"} a receipt.`,
      question: "What is done with the claim, and who is told?",
      fields: ["action", "told"],
      say: (done, person) => `it is ${done}, and ${person} is told`,
      right: [action, told],
      slip: [
        random.pick([approve, forward, giveBack].filter((one) => one !== action)),
        told === office ? desk : office,
      ],
    });
  },
};

function drawClaim(random: Random, small: number, limit: number): Claim {
  const kind = random.pick(["travel", "travel", "meals", "tools", "books"]);
  const amount = random.pick([
    random.between(small - 9, small),
    random.between(small + 1, limit),
    random.between(limit + 1, 3 * limit),
    random.between(3 * limit + 1, 4 * limit),
  ]);
  return { kind, amount, receipt: random.chance(0.6) };
}
