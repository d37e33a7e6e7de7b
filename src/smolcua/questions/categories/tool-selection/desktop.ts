/** Tools of a desktop: searching, pressing, unpacking, converting. */
import { clock, crossedSides, pooled, sides } from "../../drafts.js";
import type { Scenario } from "../../types.js";
import { folderNames, people, plainWords } from "../../words.js";

/** Names or contents, this folder or those below as well. */
export const searchScope: Scenario = {
  name: "search-scope",
  draw(random) {
    const word = random.pick(plainWords);
    const [folder, who] = [random.pick(folderNames), random.pick(people)];
    const [inText, deep] = [random.chance(0.5), random.chance(0.5)];
    const what = inText
      ? `it has the word ${word} in its text; what it is called is not known`
      : `it has the word ${word} in its name; what it says is not known`;
    return crossedSides({
      situation: `${who} looks for one file: ${what}. It lies ${deep ? `in some folder below ${folder}, perhaps several levels deep` : `in ${folder} itself; the folders below it are full of copies that must not be listed`}. search_names compares the names of files, search_texts what they contain. With depth=0 a search sees only the folder it is given, with depth=9 also the folders below, down to nine levels, which is enough here.`,
      question: "Which search fits?",
      fields: ["tool", "depth"],
      first: sides(inText, "search_texts", "search_names"),
      second: sides(deep, "9", "0"),
      say: (tool, depth) => `${tool} ${word} in ${folder}, depth=${depth}`,
    });
  },
};

/** A remote session may pass only one kind of input. */
export const inputDevice: Scenario = {
  name: "input-device",
  draw(random) {
    const [yes = "", no = ""] = random.pick([
      ["Save", "Discard"],
      ["Accept", "Refuse"],
      ["Keep", "Remove"],
      ["Publish", "Withdraw"],
      ["Restore", "Ignore"],
    ]);
    const [first, second] = random.some(["F2", "F4", "F6", "F7", "F8", "F9"], 2);
    const [topic, who] = [random.pick(plainWords), random.pick(people)];
    const [keys, wanted] = [random.chance(0.5), random.chance(0.5)];
    const options = [
      ["press", first ?? ""],
      ["press", second ?? ""],
      ["click", yes],
      ["click", no],
    ];
    return pooled({
      situation: `A dialog about ${topic} has the buttons ${yes} (key ${first ?? ""}) and ${no} (key ${second ?? ""}). The remote session ${keys ? "passes the keyboard on and loses all events of the pointer" : "passes the pointer on and loses all events of the keyboard"}. ${who} wants the dialog to be answered by ${wanted ? yes : no}. press KEY sends a key, click BUTTON a click of the pointer on a button.`,
      question: "Which call answers the dialog as wanted?",
      fields: ["tool", "argument"],
      options,
      right: (keys ? 0 : 2) + (wanted ? 0 : 1),
    });
  },
};

/** The newest archive is not always whole, and looking is not unpacking. */
export const archives: Scenario = {
  name: "archives",
  draw(random) {
    const name = random.pick(plainWords);
    const start = random.between(60, 900);
    const [early, late] = [clock(start), clock(start + random.between(20, 400))];
    const [a, b] = [`${name}-${early.replace(":", "")}.tar`, `${name}-${late.replace(":", "")}.tar`];
    const [whole, look] = [random.chance(0.5), random.chance(0.5)];
    const size = random.between(3, 60);
    return crossedSides({
      situation: `Two archives of the folder ${name} exist. ${a} was made at ${early} and has ${size} files; its check succeeded. ${b} was made at ${late} the same day and has ${size} files; its check ${whole ? "succeeded" : "failed"}. tar -tf ARCHIVE prints the names of what is in an archive and writes no files; tar -xf ARCHIVE writes what is in it to the disk and prints nothing. ${look ? "The disk is full, and only the names of the files are wanted" : "The files themselves are wanted back on the disk, which has room"}, from the newest archive whose check succeeded.`,
      question: "Which command is right?",
      fields: ["flag", "archive"],
      first: sides(look, "-tf", "-xf"),
      second: sides(whole, b, a),
      say: (flag, archive) => `tar ${flag} ${archive}`,
    });
  },
};

/** Each of the others fails one condition. */
export const converters: Scenario = {
  name: "converters",
  draw(random) {
    const [one = "", two = ""] = random.some(plainWords, 2);
    const [low, high] = [random.between(2, 4), random.between(5, 9)];
    const size = random.between(20, 90);
    const enough = () => size + random.between(1, 60);
    const faults = random.shuffled(["size", "offline", "tables", "none"]);
    const names = [
      [one, String(low)],
      [one, String(high)],
      [two, String(low)],
      [two, String(high)],
    ];
    const rows = names.map(([name, version], at) => {
      const fault = faults[at];
      const limit = fault === "size" ? size - random.between(1, 15) : enough();
      return `${name ?? ""} ${version ?? ""}: files up to ${limit} MB, ${fault === "offline" ? "only online" : "also offline"}, ${fault === "tables" ? "drops tables" : "keeps tables"}`;
    });
    return pooled({
      situation: `These versions of two converters are installed:\n${rows.join("\n")}\nA document of ${size} MB with tables that are needed is to be converted on a train without any network.`,
      question: "Which converter can do it?",
      fields: ["tool", "version"],
      options: names,
      right: faults.indexOf("none"),
      say: (tool, version) => `${tool}, version ${version}`,
    });
  },
};
