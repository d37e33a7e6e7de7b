/** How long to wait for an answer, and what to do without one. */
import { crossedTexts } from "../../crossed.js";
import type { Scenario } from "../../types.js";
import { people } from "../../words.js";

/** Opening hours and the break at noon. */
const [opens, noon, closes] = [9, 12, 17];

/** The hour, from midnight of today, at which so many working hours have passed. */
function after(start: number, hours: number): number {
  let at = start;
  for (let left = hours; left > 0; at += 1) {
    const hour = at % 24;
    if (hour >= opens && hour < closes && hour !== noon) left -= 1;
  }
  return at;
}

/** Nobody answers: when does the wait end, and what is done then? */
export const noAnswer: Scenario = {
  name: "no-answer",
  draw(random) {
    const asked = random.pick([9, 10, 11, 13, 14, 15, 16]);
    const hours = random.between(2, 5);
    const when = (hour: number): string => `${hour < 24 ? "today" : "tomorrow"} at ${hour % 24}:00`;
    const end = after(asked, hours);
    const slips = [asked + hours, end + 1, end - 1].filter(
      (hour) => hour !== end && hour % 24 > opens && hour % 24 < 22,
    );
    const [choice, other] = random.pick([
      ["book the smaller room", "book no room"],
      ["send the shorter letter", "send no letter"],
      ["order the cheaper lamp", "order no lamp"],
      ["print the newer poster", "print no poster"],
      ["invite the whole team", "invite nobody"],
      ["delete the older copy", "delete neither"],
    ] as const);
    const free = random.chance(0.5);
    const firm = random.chance(0.3);
    const does = free || firm;
    return crossedTexts({
      situation: `House rule: "After a question wait ${hours} working hours for the answer; working hours are from ${opens}:00 to ${closes}:00, without the hour from ${noon}:00 to ${noon + 1}:00. If none has come, follow the default if it can be undone or the request says so; otherwise do not act." ${random.pick(people)} was asked today at ${asked}:00 and does not answer. Today and tomorrow are working days. The default is to ${choice}; that ${free ? "can" : "cannot"} be undone. The request says: "If in doubt, ${firm ? "follow the default" : "ask me"}."`,
      question: "When does the wait end, and what is done then?",
      fields: ["time", "action"],
      say: (time, action) => `${time}, ${action}`,
      right: [when(end), does ? choice : other],
      slip: [when(random.pick(slips)), does ? other : choice],
    });
  },
};
