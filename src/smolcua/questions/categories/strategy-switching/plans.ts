/** Whether a plan is still good, and who has to know. */
import { clock, crossedSides, pooled, sides } from "../../drafts.js";
import type { Scenario } from "../../types.js";
import { people, plainWords } from "../../words.js";

/** A method is kept while it makes progress; the last failures want full runs. */
export const stillProgress: Scenario = {
  name: "still-progress",
  draw(random) {
    const [one = "", two = ""] = random.some(plainWords, 2);
    const [falling, few] = [random.chance(0.5), random.chance(0.5)];
    const rounds = random.between(2, 3);
    const threshold = random.between(8, 30);
    const last = few ? random.between(2, threshold - 1) : threshold + random.between(0, 20);
    const counts = [last];
    // From the last round backwards; one step that is none counts only within the last rounds.
    const flat = falling ? rounds + random.between(1, 3) : random.between(1, rounds);
    for (let n = 1; n <= rounds + 2; n += 1) {
      const next = counts[0] ?? 0;
      counts.unshift(next + (n === flat ? -random.between(0, 1) : random.between(1, 9)));
    }
    return crossedSides({
      situation: `Failures are mended by the method ${one}; the other method is ${two}. Rules: ${one} is kept if each of the last ${rounds} rounds left fewer failures than the round before it, otherwise ${two} takes over. If fewer than ${threshold} failures are left, the next round runs all tests, otherwise a sample. Failures left after each round, the latest last: ${counts.join(", ")}.`,
      question: "Which method comes next, and which tests run?",
      fields: ["method", "tests"],
      first: sides(falling, one, two),
      second: sides(few, "all", "sample"),
      say: (method, tests) => `method ${method}, tests: ${tests}`,
    });
  },
};

/** The exact way if it is in time, then the fast one, then what the order says. */
export const deadline: Scenario = {
  name: "deadline",
  draw(random) {
    const [exact = "", fast = ""] = random.some(plainWords, 2);
    const who = random.pick(people);
    const right = random.below(4);
    const rate = random.between(3, 20);
    const minutes = random.between(6, 20);
    const left = random.between(15, 60);
    const start = random.between(500, 900);
    const done = rate * minutes;
    const total = done + rate * left;
    const time = right === 0 ? left + random.between(1, 15) : left - random.between(2, 8);
    const needs =
      right === 0
        ? random.between(3, time)
        : right === 1
          ? random.between(3, time - 1)
          : time + random.between(1, 20);
    return pooled({
      situation: `${total} pages are to be read by ${clock(start + minutes + time)}. The method ${exact} began at ${clock(start)}; now, at ${clock(start + minutes)}, it has read ${done} and goes on at the same pace. The method ${fast} would begin from the first page and need ${needs} minutes in all. Rules: ${exact} goes on if it will be done in time; if not, ${fast} takes over, provided that it will be done in time. If neither will, ${right === 2 || (right < 2 && random.chance(0.5)) ? `${who} is asked for more time` : `the pages read so far are handed in to ${who}`}.`,
      question: "What is to be done now?",
      fields: ["step", "object"],
      options: [
        ["go on", exact],
        ["change", fast],
        ["ask for", "time"],
        ["hand in", "pages"],
      ],
      right,
      say: (step, object) => `${step}: ${object}`,
    });
  },
};

/** What was changed shortly before is rolled back; how many are hit decides who is called. */
export const incident: Scenario = {
  name: "incident",
  draw(random) {
    const [service, who] = [random.pick(plainWords), random.pick(people)];
    const [recent, many] = [random.chance(0.5), random.chance(0.5)];
    const window = 10 * random.between(2, 9);
    const begin = random.between(600, 1100);
    const deployed = begin - (recent ? random.between(3, window - 3) : window + random.between(3, 90));
    // The errors may have been noticed much later than they began.
    const noticed = begin + random.between(5, 80);
    const most = 50 * random.between(1, 12);
    const hit = many ? most + random.between(1, 90) : most - random.between(1, 45);
    return crossedSides({
      situation: `The service ${service} answers with errors. Rules: if the last release went out no more than ${window} minutes before the errors began, it is rolled back, otherwise the service is restarted. If more than ${most} users are hit, ${who} is called, otherwise the log gets a note. The last release went out at ${clock(deployed)}; the errors began at ${clock(begin)} and were noticed at ${clock(noticed)}, and ${hit} users are hit.`,
      question: "Which step is taken, and how is it made known?",
      fields: ["step", "notice"],
      first: sides(recent, "roll back", "restart"),
      second: sides(many, "call", "note"),
      say: (step, notice) => `${step}, then ${notice}`,
    });
  },
};

/** What is forbidden is not tried by other ways; what has merely run out is renewed. */
export const closedDoor: Scenario = {
  name: "closed-door",
  draw(random) {
    const [page = "", target = ""] = random.some(plainWords, 2);
    const [owner = "", user = ""] = random.some(people, 2);
    const pause = random.between(2, 50);
    const right = random.below(4);
    const message = random.pick(
      [
        [
          `the account of ${user} has no right to read ${page}`,
          `reading ${page} is reserved to the team of ${owner}`,
          `${user} was removed from the readers of ${page}`,
        ],
        [
          `the session of ${user} has ended`,
          `nobody is signed in any longer`,
          `${user} was signed out after a long pause`,
        ],
        [
          `${page} has moved to ${target}`,
          `the old address of ${page} is out of use, the new one is ${target}`,
          `you find what was in ${page} under ${target}`,
        ],
        [
          `too many requests by ${user}, the count starts anew after ${pause} minutes`,
          `the hourly number of pages is used up, the next hour begins in ${pause} minutes`,
          `${user} has read too fast and is paused for ${pause} minutes`,
        ],
      ][right] ?? [],
    );
    return pooled({
      situation: `A script reads the page ${page}, which belongs to ${owner}, with the account of ${user}, and gets no page but a message. Rules: what needs a right that is missing is not tried again in any way, but the owner of the page is asked; an account that is merely not signed in is signed in; a new address is used instead of the old one; a limit of pace is waited for. The message says: ${message}.`,
      question: "What is to be done next?",
      fields: ["step", "object"],
      options: [
        ["ask", owner],
        ["sign in", user],
        ["open", target],
        ["wait", `${pause} minutes`],
      ],
      right,
      say: (step, object) => `${step}: ${object}`,
    });
  },
};
