/** Procedures: what is out of date, which case comes first, what an error asks for. */
import { clock, crossedSides, pooled, sides } from "../../drafts.js";
import type { Scenario } from "../../types.js";
import { people, plainWords } from "../../words.js";

/** The first step that is older than what it rests on. */
export const staleStep: Scenario = {
  name: "stale-step",
  draw(random) {
    const names = random.some(plainWords, 2).sort();
    const [at, step] = [random.below(2), random.below(2)];
    const lines = names.map((name, index) => {
      const edited = random.between(480, 900);
      const ahead = () => random.between(2, 90);
      // What comes after the step that is due may look fresh or not: it is not its turn.
      const build = index > at ? random.chance(0.5) : index === at && step === 0;
      const built = build ? edited - ahead() : edited + ahead();
      const check = index > at || (index === at && step === 1);
      const checked = check ? built - ahead() : built + ahead();
      return `${name}: sources edited ${clock(edited)}, built ${clock(built)}, checked ${clock(checked)}`;
    });
    return pooled({
      situation: `Projects are dealt with in the order of the list. A project must be built after its sources were last edited, and checked after it was last built; a build or check that is older than that has to be done anew, the build first. The next project's turn comes when nothing is left to do for the one before. Times of today:\n${lines.join("\n")}`,
      question: "Which command comes next?",
      fields: ["command", "project"],
      options: names.flatMap((name) => [
        ["build", name],
        ["check", name],
      ]),
      right: at * 2 + step,
    });
  },
};

/** Urgent before old, and what is done depends on who spoke last. */
export const ticketQueue: Scenario = {
  name: "ticket-queue",
  draw(random) {
    const [a, b, c] = random.some(
      [...Array(90).keys()].map((n) => n + 110),
      3,
    ) as [number, number, number];
    const [one = "", two = "", three = ""] = random.some(people, 3);
    const [urgentIsOlder, customer] = [random.chance(0.5), random.chance(0.5)];
    const days = random.between(4, 9);
    const young = random.between(2, days - 2);
    const [forA, forB] = sides(urgentIsOlder, days, young);
    const sameClass = random.chance(0.5);
    // Without a difference of class the older one is first; with one, a is urgent.
    const aFirst = !sameClass || urgentIsOlder;
    const last = (isRight: boolean) => (isRight === customer ? "the customer" : "the support");
    const rows = [
      `ticket ${a} of ${one}: urgent, open for ${forA} days, last words by ${last(aFirst)}`,
      `ticket ${b} of ${two}: ${sameClass ? "urgent" : "normal"}, open for ${forB} days, last words by ${last(!aFirst)}`,
      `ticket ${c} of ${three}: normal, open for ${days + random.between(1, 5)} days, last words by ${random.pick(["the customer", "the support"])}`,
    ];
    return crossedSides({
      situation: `Urgent tickets come before normal ones; among those of a class, the one that has been open longest comes first. If the last words are the customer's, the ticket is answered; if they are the support's, it is closed. The queue:\n${random.shuffled(rows).join("\n")}`,
      question: "What is the next action, on which ticket?",
      fields: ["action", "ticket"],
      first: sides(customer, "answer", "close"),
      second: sides(aFirst, String(a), String(b)),
      say: (action, ticket) => `${action} ticket ${ticket}`,
    });
  },
};

/** One date is as ordered, the other is amiss; nights lie between. */
export const bookingDates: Scenario = {
  name: "booking-dates",
  draw(random) {
    const arrival = random.between(6, 15);
    const nights = random.between(2, 8);
    const departure = arrival + nights;
    const [byArrival, low] = [random.chance(0.5), random.chance(0.5)];
    const off = random.pick([-2, 2, 3]);
    const slip = low ? 1 : -1;
    const who = random.pick(people);
    const shown = byArrival ? [arrival, departure + off] : [arrival + off, departure];
    const [shownFrom = 0, shownTo = 0] = shown;
    // The other field could be changed to make the number of nights right, but it is as ordered.
    const options = byArrival
      ? [departure, departure + slip, shownTo - nights, shownTo - nights + slip]
      : [arrival, arrival + slip, shownFrom + nights, shownFrom + nights + slip];
    const [own, other] = sides(byArrival, "Departure", "Arrival");
    return pooled({
      situation: `${who} ordered a room ${byArrival ? `from the day of arrival, June ${arrival}` : `until the day of departure, June ${departure}`}, for ${nights} nights; arriving on June 1 and departing on June 3 makes two nights. The form shows Arrival June ${shownFrom} and Departure June ${shownTo} and is to be put right by changing one field.`,
      question: "What is the next action?",
      fields: ["field", "day"],
      options: [
        [own, String(options[0])],
        [own, String(options[1])],
        [other, String(options[2])],
        [other, String(options[3])],
      ],
      right: 0,
      say: (field, day) => `set ${field} to day ${day}`,
    });
  },
};
