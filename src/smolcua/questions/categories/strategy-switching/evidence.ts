/** What has been observed says which change of approach helps. */
import { crossedSides, pooled, sides } from "../../drafts.js";
import type { Scenario } from "../../types.js";
import { cities, people, plainWords } from "../../words.js";

/** A click without effect has a cause that can be seen. */
export const deadClick: Scenario = {
  name: "dead-click",
  draw(random) {
    const [button = "", field = "", box = ""] = random
      .some(plainWords, 3)
      .map((word) => word.charAt(0).toUpperCase() + word.slice(1));
    const [x, y] = [random.between(100, 900), random.between(100, 600)];
    const right = random.below(4);
    const evidence = [
      `the button stands at (${x + random.between(60, 200)}, ${y}), and at (${x}, ${y}) there is only background`,
      `the button is grey at (${x}, ${y}), and a note beside it says that ${field} must not be empty`,
      `the button stands at (${x}, ${y}), and the message ${box} lies over it and took the click`,
      `the button is pressed in at (${x}, ${y}), and a wheel turns beside it with the word Working`,
    ];
    return pooled({
      situation: `A script clicked at (${x}, ${y}), where an earlier screenshot had the button ${button}, and the expected page did not come. Nothing is known about the button but what a screenshot shows. The page has a field ${field} and now and then a message ${box}. A screenshot taken after the click shows: ${evidence[right] ?? ""}.`,
      question: "What is to be done before anything else?",
      fields: ["step", "object"],
      options: [
        ["click anew", button],
        ["write into", field],
        ["close", box],
        ["wait for", "page"],
      ],
      right,
      say: (step, object) => `${step}: ${object}`,
    });
  },
};

/** Of the conditions that differ between trials, one alone explains what failed. */
export const oneCulprit: Scenario = {
  name: "one-culprit",
  draw(random) {
    const [cable = "", radio = ""] = random.some(cities, 2);
    const [own = "", other = ""] = random.some(people, 2);
    const [dark = "", light = ""] = random.some(plainWords, 2);
    const factors = [
      ["network", cable, radio],
      ["account", own, other],
      ["theme", dark, light],
      ["browser", "Kite", "Lark"],
    ];
    const right = random.below(4);
    const good = factors.map(() => random.between(1, 2));
    const explains = (trials: number[][], at: number) => {
      const failing = trials.map((trial) => trial[at] !== good[at]);
      return trials.every((trial, n) => failing[n] === (trial[right] !== good[right]));
    };
    const mirrored = (trials: number[][], at: number) =>
      trials.every((trial) => (trial[at] === good[at]) !== (trial[right] === good[right]));
    const trials: number[][] = [];
    const open = () =>
      factors.some((_, at) => at !== right && (explains(trials, at) || mirrored(trials, at)));
    while (trials.length < 4 || open()) trials.push(factors.map(() => random.between(1, 2)));
    // The last trial fails, and with it everything but the culprit's value is as likely right as wrong.
    trials.push(factors.map((_, at) => (at === right ? 3 - (good[at] ?? 1) : random.between(1, 2))));
    const line = (trial: number[]) =>
      `${factors.map(([name, ...values], at) => `${name ?? ""} ${values[(trial[at] ?? 1) - 1] ?? ""}`).join(", ")}: ${trial[right] === good[right] ? "works" : "fails"}`;
    const last = trials.at(-1) ?? [];
    return pooled({
      situation: `An upload works under some conditions and fails under others. Whether it does depends on exactly one of network, account, theme and browser, always in the same way. Trials so far:\n${trials.map(line).join("\n")}`,
      question: "Which single change makes the last trial work?",
      fields: ["factor", "value"],
      options: factors.map(([name = "", ...values], at) => [name, values[2 - (last[at] ?? 1)] ?? ""]),
      right,
      say: (name, value) => `${name} to ${value}`,
    });
  },
};

/** Too large for the engine and too large for the memory are different faults. */
export const engineLimits: Scenario = {
  name: "engine-limits",
  draw(random) {
    const [small = "", large = "", topic = ""] = random.some(plainWords, 3);
    const [fits, roomy] = [random.chance(0.5), random.chance(0.5)];
    const size = random.between(40, 200);
    const limit = fits ? size + random.between(1, 60) : size - random.between(1, 30);
    const factor = random.between(3, 6);
    const memory = factor * size + (roomy ? random.between(0, 150) : -random.between(1, size));
    return crossedSides({
      situation: `The table ${topic} of ${size} MB could not be read; the attempt used the engine ${small} in mode fast. ${small} reads tables up to ${limit} MB, ${large} any. In mode fast an engine needs ${factor} MB of memory for each MB of the table, in mode slow 1 MB; ${memory} MB are free. Rules: what stands in the way is changed, and nothing else. If nothing stands in the way, the fault was a passing one, and the attempt is repeated as it was.`,
      question: "How is the next attempt to be made?",
      fields: ["engine", "mode"],
      first: sides(fits, small, large),
      second: sides(roomy, "fast", "slow"),
      say: (engine, mode) => `engine ${engine}, mode ${mode}`,
    });
  },
};

/** A later failure is progress; time has an end all the same. */
export const laterStage: Scenario = {
  name: "later-stage",
  draw(random) {
    const stages = ["connect", "log in", "search", "open", "read", "save"];
    const before = random.between(1, 4);
    const [better, late] = [random.chance(0.5), random.chance(0.5)];
    const after = better ? random.between(before + 1, 5) : random.between(0, before);
    const [setting, who] = [random.pick(plainWords), random.pick(people)];
    const most = 10 * random.between(2, 9);
    const spent = late ? most + random.between(1, 15) : most - random.between(1, 15);
    return crossedSides({
      situation: `A job has the stages ${stages.join(", ")}, in this order. It failed at the stage ${stages[before] ?? ""}; then the setting ${setting} was changed, and it failed at the stage ${stages[after] ?? ""}. Rules: a change is kept if the job then fails at a later stage than before, otherwise it is undone. After that one goes on trying other settings as long as no more than ${most} minutes were spent, otherwise ${who} is asked. ${spent} minutes were spent.`,
      question: "What happens to the change, and what follows?",
      fields: ["change", "next"],
      first: sides(better, "keep", "undo"),
      second: sides(late, "ask", "try"),
      say: (change, next) => `${change}, then ${next}`,
    });
  },
};
