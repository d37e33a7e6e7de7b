/** Whether to send, run or try the same again. */
import { clock, crossedSides, pooled, sides } from "../../drafts.js";
import type { Scenario } from "../../types.js";
import { numbered, people, plainWords } from "../../words.js";

/** A busy server wants a pause, a refused parameter a correction. */
export const busyOrRefused: Scenario = {
  name: "busy-or-refused",
  draw(random) {
    const [one = "", two = ""] = random.some(["width", "height", "depth", "pages", "count", "level"], 2);
    const [busy, second] = [random.chance(0.5), random.chance(0.5)];
    const usual = 5 * random.between(2, 12);
    const asked = usual + random.pick([-5, 5, 15, 30]);
    const [limitOne, limitTwo] = [random.between(20, 90), random.between(20, 90)];
    // A refused request exceeds one limit; a busy server says nothing about the parameters.
    const [valueOne, valueTwo] = [
      limitOne + (!busy && !second ? 1 : -1) * random.between(1, 15),
      limitTwo + (!busy && second ? 1 : -1) * random.between(1, 15),
    ];
    const pause = second ? "without naming a pause" : `and names a pause of ${asked} s`;
    return pooled({
      situation: `A service allows ${one} up to ${limitOne} and ${two} up to ${limitTwo}. Its status 10 means that it is busy: the same request may be sent again after the pause that the answer names, or after ${usual} s if it names none. Status 20 means that a parameter exceeds its limit: the same request would be refused for ever, and the parameter has to be set to its limit. A request with ${one}=${valueOne} and ${two}=${valueTwo} is answered with status ${busy ? `10 ${pause}` : "20"}.`,
      question: "What is to be done?",
      fields: ["step", "amount"],
      options: [
        ["wait", `${asked} s`],
        ["wait", `${usual} s`],
        [`set ${one}`, String(limitOne)],
        [`set ${two}`, String(limitTwo)],
      ],
      right: (busy ? 0 : 2) + (second ? 1 : 0),
      say: (step, amount) => `${step}: ${amount}, then send again`,
    });
  },
};

/** What has no known result is sent again only where twice does no harm. */
export const unknownResult: Scenario = {
  name: "unknown-result",
  draw(random) {
    const [who, topic] = [random.pick(people), random.pick(plainWords)];
    const limit = random.between(2, 5);
    const tries = random.between(1, 7);
    const [safe, action] = random.pick([
      [false, "pays the invoice"],
      [false, "adds an order for"],
      [false, "sends the letter"],
      [false, "books the room"],
      [true, "sets the price of"],
      [true, "reads the balance of"],
    ] as const);
    const answered = !safe && random.chance(0.25);
    const again = safe || answered;
    const outcome = answered
      ? "The last attempt was answered: refused, nothing was done"
      : "The last attempt got no answer, so that nobody knows whether it took effect";
    return crossedSides({
      situation: `A script ${action} ${topic}. Doing this twice is ${safe ? "the same as doing it once" : "harmful"}. Rules: after a failure it is run again if doing it twice is the same as doing it once, or if the answer says that nothing was done; otherwise its effect is looked up first. ${who} is told if more than ${limit} attempts have failed, otherwise nobody. So far ${tries === 1 ? "1 attempt has" : `${tries} attempts have`} failed; all before the last had been found without effect. ${outcome}.`,
      question: "What comes next, and who is told?",
      fields: ["step", "told"],
      first: sides(again, "run again", "look up"),
      second: sides(tries > limit, who, "nobody"),
      say: (step, told) => `${step}, tell ${told}`,
    });
  },
};

/** Tries are counted for each server; one kind of failure ends them at once. */
export const tryBudget: Scenario = {
  name: "try-budget",
  draw(random) {
    const [one = "", two = ""] = random.some(plainWords, 2);
    const [helper = "", guard = ""] = random.some(people, 2);
    const [most, mostTwo] = [random.between(2, 4), random.between(2, 4)];
    const right = random.below(4);
    const time = random.between(500, 900);
    const count =
      right === 0
        ? [random.between(1, most - 1), 0]
        : right === 1
          ? [most, random.between(0, mostTwo - 1)]
          : right === 2
            ? [most, mostTwo]
            : [random.between(0, most), 0];
    const tries = [one, two].flatMap((server, at) => Array.from({ length: count[at] ?? 0 }, () => server));
    const log = tries.map(
      (server, at) => `${clock(time + 3 * at)} ${server}: no answer within the time limit`,
    );
    if (right === 3)
      log.push(
        `${clock(time + 3 * tries.length)} ${tries.length < most ? one : two}: the certificate is not the known one`,
      );
    return pooled({
      situation: `A file is to be fetched. Rules: the server ${one} is tried first, up to ${most} times; after that ${two}, up to ${mostTwo} times; when both are used up, ${helper} is asked. After a warning about a certificate there is no further try on any server, and ${guard} is asked at once. The log:\n${numbered(log)}`,
      question: "What comes next?",
      fields: ["step", "whom"],
      options: [
        ["try", one],
        ["try", two],
        ["ask", helper],
        ["ask", guard],
      ],
      right,
    });
  },
};

/** Failing always and failing now and then want different things. */
export const flakyTest: Scenario = {
  name: "flaky-test",
  draw(random) {
    const test = random.pick(plainWords);
    const [author = "", keeper = ""] = random.some(people, 2);
    const runs = random.between(5, 12);
    const [always, onMain] = [random.chance(0.5), random.chance(0.5)];
    const failed = always ? runs : random.between(1, runs - 1);
    const mainRuns = random.between(5, 30);
    const mainFailed = onMain ? random.between(1, 4) : 0;
    return crossedSides({
      situation: `The test ${test} fails on a branch of ${author}; the test's keeper is ${keeper}. Rules: a test that failed in every run on the branch is searched for a cause, one that passed at least once there is run again. If the test also failed on the main branch at least once, the keeper is told, otherwise the author of the branch. On the branch ${failed} of ${runs} runs failed, on the main branch ${mainFailed} of ${mainRuns}.`,
      question: "What comes next, and who is told?",
      fields: ["step", "told"],
      first: sides(always, "search cause", "run again"),
      second: sides(onMain, keeper, author),
      say: (step, told) => `${step}, tell ${told}`,
    });
  },
};
