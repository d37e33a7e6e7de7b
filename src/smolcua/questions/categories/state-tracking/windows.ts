/** State of windows, tabs, lists and settings after a series of events. */
import type { Candidate, Scenario } from "../../types.js";
import { cities, numbered, people, settings } from "../../words.js";

/** A browser gives the place of a closed tab to its right neighbour. */
export const tabs: Scenario = {
  name: "tabs",
  draw(random) {
    const titles = random.some(cities, 5);
    const state = titles.slice(0, 4);
    let active = random.below(4);
    const events: string[] = [];
    const started = state[active] ?? "";
    const closed = random.pick(state.filter((_, index) => index !== active));
    const closedAt = state.indexOf(closed);
    events.push(`The tab ${closed} is closed by its cross.`);
    state.splice(closedAt, 1);
    if (closedAt < active) active -= 1;
    const opened = titles[4] ?? "";
    events.push(
      `A link is opened in a new tab ${opened}, which appears directly right of the active one and does not become active.`,
    );
    state.splice(active + 1, 0, opened);
    const moves = random.between(1, 2);
    events.push(`Ctrl+Tab is pressed ${moves === 1 ? "once" : "twice"}.`);
    active = (active + moves) % state.length;
    const right = state[active] ?? "";
    const place = active + 1;
    const others = state.filter((title) => title !== right);
    const near = state[(active + 1) % state.length] ?? "";
    const off = place === state.length ? place - 1 : place + 1;
    const option = (title: string, number: number): Candidate => ({
      text: `${title}, tab ${number} from the left`,
      values: [title, String(number)],
    });
    const another = random.pick(others.filter((title) => title !== near));
    return {
      situation: `A browser window has the tabs ${titles.slice(0, 4).join(", ")}, from left to right; ${started} is active. Ctrl+Tab activates the next tab to the right, after the last the first.\n${numbered(events)}`,
      question: "Which tab is active afterwards, and where does it stand?",
      fields: ["tab", "place"],
      right: option(right, place),
      wrong: [option(near, place), option(right, off), option(another, off)],
    };
  },
};

/** The window that was used before gets the focus when one is closed or minimised. */
export const focus: Scenario = {
  name: "window-focus",
  draw(random) {
    const apps = random.some(
      ["Mail", "Editor", "Terminal", "Calendar", "Browser", "Calculator", "Music", "Chat"],
      4,
    );
    const [a = "", b = "", c = "", d = ""] = apps;
    const minimised = random.chance(0.5);
    // From the one used last.
    let stack = [d, c, b, a];
    const clicked = random.pick([a, b]);
    stack = [clicked, ...stack.filter((app) => app !== clicked)];
    const events = [
      `${a}, ${b}, ${c} and ${d} are opened, in this order.`,
      `The window of ${clicked} is clicked.`,
      minimised ? `${clicked} is minimised.` : `${clicked} is closed.`,
      `The window of ${stack[2] ?? ""} is closed.`,
    ];
    const focused = stack[1] ?? "";
    const last = stack[3] ?? "";
    const open = minimised ? "3" : "2";
    const wrongOpen = minimised ? "2" : "3";
    const option = (app: string, count: string): Candidate => ({
      text: `${app} has the focus, ${count} windows exist`,
      values: [app, count],
    });
    return {
      situation: `On a desktop a window gets the focus when it is opened or clicked. When it is closed or minimised, the focus goes to the visible window that had it last. Minimised windows still exist.\n${numbered(events)}`,
      question: "Which window has the focus afterwards, and how many windows exist?",
      fields: ["window", "count"],
      right: option(focused, open),
      wrong: [option(focused, wrongOpen), option(last, open), option(last, wrongOpen)],
    };
  },
};

/** A switch that depends on another goes off with it, and does not come back by itself. */
export const dependentSettings: Scenario = {
  name: "dependent-settings",
  draw(random) {
    const [needed = "", needy = "", free = ""] = random.some(settings, 3);
    let [neededOn, needyOn, freeOn] = [true, false, random.chance(0.5)];
    const events: string[] = [];
    const start = freeOn ? "on" : "off";
    for (let count = random.between(4, 6); count > 0; count -= 1) {
      const which = count === 4 ? 0 : random.below(3);
      if (which === 0) {
        neededOn = !neededOn;
        if (!neededOn) needyOn = false;
        events.push(`${needed} is switched ${neededOn ? "on" : "off"}.`);
      } else if (which === 1) {
        events.push(needyOn ? `${needy} is switched off.` : `Somebody tries to switch ${needy} on.`);
        needyOn = !needyOn && neededOn;
      } else {
        freeOn = !freeOn;
        events.push(`${free} is switched ${freeOn ? "on" : "off"}.`);
      }
    }
    const option = (one: boolean, two: boolean): Candidate => {
      const [first, second] = [one ? "on" : "off", two ? "on" : "off"];
      return { text: `${needy} is ${first}, ${free} is ${second}`, values: [first, second] };
    };
    return {
      situation: `In a settings page ${needy} needs ${needed}: it goes off when ${needed} goes off, does not come back by itself, and cannot be switched on while ${needed} is off. ${free} needs nothing. At first ${needed} is on, ${needy} is off and ${free} is ${start}.\n${numbered(events)}`,
      question: `How are ${needy} and ${free} set afterwards?`,
      fields: ["first", "second"],
      right: option(needyOn, freeOn),
      wrong: [option(!needyOn, freeOn), option(needyOn, !freeOn), option(!needyOn, !freeOn)],
    };
  },
};

/** Seats, jobs, calls: a queue whose members leave and jump. */
export const queue: Scenario = {
  name: "queue",
  draw(random) {
    const [a = "", b = "", c = "", d = "", e = ""] = random.some(people, 5);
    const line = [a, b, c, d];
    const events: string[] = [];
    const leaves = random.pick([b, c]);
    events.push(`${leaves} cancels.`);
    line.splice(line.indexOf(leaves), 1);
    events.push(`A job of ${e} arrives with high priority.`);
    line.splice(1, 0, e);
    events.push("The job that is printing ends.");
    line.shift();
    const swap = random.chance(0.5);
    if (swap) {
      events.push(`The job of ${line[1] ?? ""} is moved to the end.`);
      line.push(...line.splice(1, 1));
    }
    const [first = "", second = "", third = ""] = line;
    const option = (one: string, two: string): Candidate => ({
      text: `the job of ${one} prints, that of ${two} is next`,
      values: [one, two],
    });
    return {
      situation: `A printer has jobs of ${a}, ${b}, ${c} and ${d}, in this order; the first is printing. A job with high priority goes before all that wait, and never interrupts the one that prints.\n${numbered(events)}`,
      question: "Whose job prints afterwards, and whose is next?",
      fields: ["printing", "next"],
      right: option(first, second),
      wrong: [option(second, first), option(first, third), option(second, third)],
    };
  },
};
