/** Requests whose words have several readings, and house rules that decide. */
import { crossedTexts } from "../../crossed.js";
import type { Scenario } from "../../types.js";
import { cities, fileNames, folderNames, people, plainWords, surnames } from "../../words.js";

/** Two people of one name: the project decides, then who wrote last; the way depends on who it is. */
export const sameFirstName: Scenario = {
  name: "same-first-name",
  draw(random) {
    const name = random.pick(people);
    const [one = "", two = ""] = random.some(surnames, 2).map((surname) => `${name} ${surname}`);
    const project = random.pick(plainWords);
    const members = random.pick([[one], [one], [], [one, two]]);
    const wrote = random.pick([one, two]);
    const right = members.length === 1 ? one : wrote;
    const slip = right === one ? two : one;
    const online = random.pick([[one], [two], [one], [two], [one, two], []]);
    const way = online.includes(right) ? "chat" : "mail";
    const list =
      members.length === 2
        ? "Both of them belong"
        : members.length === 1
          ? `Only ${one} belongs`
          : "Neither of them belongs";
    const present =
      online.length === 2 ? "Both are" : online.length === 1 ? `Only ${online[0] ?? ""} is` : "Neither is";
    return crossedTexts({
      situation: `House rule: "A first name means the person of that name who belongs to the project in question; if none or several do, the one of them who wrote last. Messages go by chat to those who are online, to others by mail." The request: "Tell ${name} that the ${project} report is ready." The people of that name are ${random.shuffled([one, two]).join(" and ")}. ${list} to the project ${project}. The last who wrote was ${wrote}. ${present} online.`,
      question: "Who gets the message, and how?",
      fields: ["person", "way"],
      say: (who, how) => `${who}, by ${how}`,
      right: [right, way],
      slip: [slip, way === "chat" ? "mail" : "chat"],
    });
  },
};

/** "It" is the last thing that the action can be done to; what is gone is not meant. */
export const backReference: Scenario = {
  name: "back-reference",
  draw(random) {
    const [file1 = "", file2 = ""] = random.some(fileNames, 2);
    const [folder1 = "", folder2 = ""] = random.some(folderNames, 2);
    const [first = "", second = "", asking = ""] = random.some(people, 3);
    const onFile = random.chance(0.5);
    const [early, late] = onFile ? [file1, file2] : [folder1, folder2];
    const gone = random.pick([late, late, early, onFile ? folder2 : file2]);
    const right = gone === late ? early : late;
    const other = gone === late ? late : early;
    const action = onFile ? random.pick(["print", "sign"]) : random.pick(["empty", "sort"]);
    const former = random.chance(0.5);
    return crossedTexts({
      situation: `House rule: "It" means the thing named last in the request to which the action can be done; a thing that does not exist any more is not meant. Files can be printed and signed, folders can be emptied and sorted. "The former" and "the latter" are the first and the second of the two persons named.\nThe request of ${asking}: "${first} has opened ${file1} in the folder ${folder1}, ${second} has opened ${file2} in the folder ${folder2}. Please ${action} it, and tell ${former ? "the former" : "the latter"}." Meanwhile ${gone} has been deleted${fileNames.includes(gone) ? "" : ", and what was in it has been kept elsewhere"}.`,
      question: `What is to be ${{ print: "printed", sign: "signed", empty: "emptied", sort: "sorted" }[action] ?? ""}, and who is to be told?`,
      fields: ["thing", "person"],
      say: (thing, person) => `${action} ${thing}, tell ${person}`,
      right: [right, former ? first : second],
      slip: [other, former ? second : first],
    });
  },
};

const week = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"] as const;

/** "This" and "next" weekday, hours without morning or evening. */
export const looseDates: Scenario = {
  name: "loose-dates",
  draw(random) {
    const now = random.between(1, 5);
    const today = random.between(1, 14);
    const wanted = random.pick(week.map((_, at) => at).filter((at) => at !== now));
    const next = random.chance(0.5);
    const soon = today + ((wanted - now + 7) % 7);
    const following = today + 7 - now + wanted;
    const right = next ? following : soon;
    const slip = soon === following ? soon + 7 : next ? soon : following;
    const turn = random.between(6, 8);
    const hour = random.between(5, 10);
    const event = random.pick(["breakfast", "call", "visit", "dinner", "lesson", "talk"]);
    const morning = event === "breakfast" || (event !== "dinner" && hour >= turn);
    const time = (early: boolean): string => `${early ? hour : hour + 12}:00`;
    return crossedTexts({
      situation: `House rule: "'This' and a weekday is the first such day after today. 'Next' and a weekday is that day of the week after the current one; weeks begin on Mondays. An hour below ${turn} without more words is in the afternoon or evening, any other up to 12 in the morning; but breakfasts are always in the morning, dinners always in the evening." Today is ${week[now] ?? ""}, the ${today}${ordinal(today)} of the month, early in the morning. ${random.pick(people)} says: "Put the ${event} with ${random.pick(cities)} ${next ? "next" : "this"} ${week[wanted] ?? ""} at ${hour}."`,
      question: "On which day of the month and at what time is it?",
      fields: ["day", "time"],
      say: (day, at) => `on day ${day} at ${at}`,
      right: [String(right), time(morning)],
      slip: [String(slip), time(!morning)],
    });
  },
};

const ordinal = (day: number): string =>
  day % 10 === 1 && day !== 11
    ? "st"
    : day % 10 === 2 && day !== 12
      ? "nd"
      : day % 10 === 3 && day !== 13
        ? "rd"
        : "th";

const months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
] as const;

/** The office of the writer decides how dates and numbers are meant, not the one that is written about. */
export const officeNumbers: Scenario = {
  name: "office-numbers",
  draw(random) {
    const [a = "", b = "", c = "", d = ""] = random.some(cities, 4);
    const [from = "", about = ""] = random.some([a, b, c, d], 2);
    const dayFirst = from === a || from === b;
    const comma = from === a || from === c;
    const [x = 0, y = 0] = random.some(
      months.map((_, at) => at + 1),
      2,
    );
    const date = (first: boolean): string =>
      first ? `${x} ${months[y - 1] ?? ""}` : `${y} ${months[x - 1] ?? ""}`;
    const whole = random.between(1, 9);
    const rest = random.between(101, 989);
    const mark = random.pick([".", ","]);
    // The mark that is not the decimal one parts the thousands.
    const thousands = (mark === ",") !== comma;
    const amount = (large: boolean): string =>
      large ? `${whole}${rest} litres` : `${whole} litres and ${rest} ml`;
    return crossedTexts({
      situation: `House rule: "The offices ${a} and ${b} write the day before the month, ${c} and ${d} the month before the day. ${a} and ${c} write a comma before decimals and a full stop after the thousands, ${b} and ${d} a full stop before decimals and a comma after the thousands. What counts is the office where a message was written." From ${from} comes the message: "For ${about}: by ${x}/${y}, ${whole}${mark}${rest} litres."`,
      question: "Which date and which amount does the message mean?",
      fields: ["date", "amount"],
      say: (when, much) => `by ${when}, ${much}`,
      right: [date(dayFirst), amount(thousands)],
      slip: [date(!dayFirst), amount(!thousands)],
    });
  },
};
