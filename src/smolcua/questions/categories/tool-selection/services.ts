/** Tools that call services: records, prices, times, rights. */
import { clock, crossedSides, pooled, sides } from "../../drafts.js";
import type { Scenario } from "../../types.js";
import { cities, people, plainWords } from "../../words.js";

/** PUT replaces, PATCH changes what is sent. */
export const recordChange: Scenario = {
  name: "record-change",
  draw(random) {
    const [who, id] = [random.pick(people), random.between(100, 999)];
    const [kept = "", sent = "", other = ""] = random.some(["phone", "city", "street", "email", "title"], 3);
    const [whole, draft] = [random.chance(0.5), random.chance(0.5)];
    const need = whole
      ? `Afterwards the record is to consist of ${sent} alone: ${kept} and ${other} must be gone`
      : `Afterwards ${sent} is to be new, while ${kept} and ${other}, whose values the caller does not know, must be as before`;
    const visible = draft
      ? "Nobody who reads the live record may see the change before it is approved"
      : "Who reads the live record has to see the change at once";
    return crossedSides({
      situation: `Contact ${id} (${who}) has the fields ${kept}, ${sent} and ${other}. A call sends a new value of ${sent} and nothing else. PUT replaces all fields by those sent; PATCH changes those sent and leaves the others. Calls to /live/${id} change the live record at once; calls to /draft/${id} change a draft, which starts equal to the live record and becomes live by approval. ${need}. ${visible}.`,
      question: "Which call is right?",
      fields: ["method", "path"],
      first: sides(whole, "PUT", "PATCH"),
      second: sides(draft, `/draft/${id}`, `/live/${id}`),
      say: (method, path) => `${method} ${path}`,
    });
  },
};

/** One time or again and again, and in the clock of the scheduler. */
export const schedule: Scenario = {
  name: "schedule",
  draw(random) {
    const job = random.pick(plainWords);
    const city = random.pick(cities);
    const hours = random.between(2, 5);
    const local = random.between(10, 17) * 60 + random.pick([0, 10, 15, 20, 30, 45]);
    const [ahead, daily] = [random.chance(0.5), random.chance(0.5)];
    return crossedSides({
      situation: `A scheduler takes times in UTC, as hours and minutes. at TIME JOB runs a job once, the next time that this time comes; every TIME JOB runs it each day at this time. The office in ${city} has a clock that is ${hours} hours ${ahead ? "ahead of" : "behind"} UTC all year. The job ${job} is to run at ${clock(local)} by the clock of the office, ${daily ? "this day and all that follow" : "this day and never again"}; it is early morning in the office.`,
      question: "Which command does that?",
      fields: ["command", "time"],
      first: sides(daily, "every", "at"),
      second: sides(ahead, clock(local - 60 * hours), clock(local + 60 * hours)),
      say: (command, time) => `${command} ${time} ${job}`,
    });
  },
};

/** What is cheaper depends on how full the last parcel of a bulk call is. */
export const bulkPrice: Scenario = {
  name: "bulk-price",
  draw(random) {
    const size = random.pick([10, 20, 25, 50]);
    const repeats = random.between(size + 1, 2 * size);
    const rows = repeats + random.between(size, 4 * size);
    const once = random.chance(0.5);
    const count = once ? rows - repeats : rows;
    const other = once ? rows : rows - repeats;
    const calls = (n: number) => Math.ceil(n / size);
    const bulk = random.chance(0.5);
    // Price of a bulk call in cents: clearly below or above that of as many single calls.
    const even = Math.floor(count / calls(count));
    const price = bulk ? even - random.between(2, 4) : even + random.between(2, 9);
    return pooled({
      situation: `A list has ${rows} rows with a name each; ${repeats} of the rows repeat a name of an earlier row. single looks up one name a call and costs 1 cent a call. bulk looks up to ${size} names a call and costs ${price} cents a call, however few they are. ${once ? "It is enough to look up each different name once." : "Each row needs a look-up of its own, also where the name is a repeated one."} The job is to cost as little as possible.`,
      question: "Which tool is to be used, and how many calls does it need?",
      fields: ["tool", "calls"],
      options: [
        ["single", String(count)],
        ["bulk", String(calls(count))],
        ["single", String(other)],
        ["bulk", String(calls(other))],
      ],
      right: bulk ? 1 : 0,
      say: (tool, n) => `${tool} in ${n} calls`,
    });
  },
};

/** The account with the fewest rights that suffice, the export that has what is wanted. */
export const leastRights: Scenario = {
  name: "least-rights",
  draw(random) {
    const [list = "", secret = ""] = random.some(plainWords, 2);
    const [one = "", two = ""] = random.some(people, 2);
    const [both, filtered] = [random.chance(0.5), random.chance(0.5)];
    const [shown, rows] = [random.between(5, 40), random.between(100, 900)];
    return crossedSides({
      situation: `The lists ${list} and ${secret} can be exported by two tools: export_view writes only the rows that the current filter shows, export_all writes all rows. The account ${one} may read ${list} only; the account ${two} may read both. The account with the fewest rights that suffice has to be used. Each list has ${rows} rows, and the current filter shows ${shown} of them. ${filtered ? `Those ${shown} rows, and no others,` : `All ${rows} rows`} of ${both ? secret : list} are wanted.`,
      question: "Which tool is to be used, with which account?",
      fields: ["tool", "account"],
      first: sides(filtered, "export_view", "export_all"),
      second: sides(both, two, one),
      say: (tool, account) => `${tool} as ${account}`,
    });
  },
};
