/** Commands of a shell whose flags the situation explains. */
import { crossedSides, sides } from "../../drafts.js";
import type { Scenario } from "../../types.js";
import { fileNames, folderNames, people, plainWords } from "../../words.js";

/** Newest entries stand at one end, and an entry may have several lines. */
export const logEnd: Scenario = {
  name: "log-end",
  draw(random) {
    const log = `${random.pick(plainWords)}.log`;
    const wanted = random.between(3, 12);
    const lines = random.between(2, 6);
    const [newestLast, entries, newest] = [random.chance(0.5), random.chance(0.5), random.chance(0.5)];
    const many = String(wanted * lines);
    return crossedSides({
      situation: `The log ${log} has thousands of entries of ${lines} lines each; a new entry is added ${newestLast ? "at the end" : "at the beginning"} of the file. head -n N prints the first N lines of a file, tail -n N the last N. Exactly the ${newest ? "newest" : "oldest"} ${wanted} ${entries ? "entries" : "lines"} are to be printed.`,
      question: "Which command does that?",
      fields: ["command", "count"],
      first: sides(newestLast === newest, "tail", "head"),
      second: sides(entries, many, String(wanted)),
      say: (command, count) => `${command} -n ${count} ${log}`,
    });
  },
};

/** Whether the original stays, and whether what is there may be lost. */
export const copyMove: Scenario = {
  name: "copy-move",
  draw(random) {
    const [file, who] = [random.pick(fileNames), random.pick(people)];
    const [from, to] = random.some(folderNames, 2);
    const [stays, keep] = [random.chance(0.5), random.chance(0.5)];
    const original = stays
      ? `${who} goes on working on the file in ${from ?? ""}`
      : `once the file is there, ${from ?? ""} must no longer have it`;
    const there = keep
      ? `should ${to ?? ""} already have a file of this name, that one is somebody else's and has to survive, even if nothing is transferred then`
      : `should ${to ?? ""} already have a file of this name, that one is outdated and has to be replaced`;
    return crossedSides({
      situation: `${file} from the folder ${from ?? ""} is to get to the folder ${to ?? ""}. Note: ${original}; ${there}. cp leaves the original in place, mv does not. With -n both do nothing where the destination has a file of that name, with -f they overwrite it without asking.`,
      question: "Which command fits?",
      fields: ["command", "flag"],
      first: sides(stays, "cp", "mv"),
      second: sides(keep, "-n", "-f"),
      say: (command, flag) => `${command} ${flag} ${from ?? ""}/${file} ${to ?? ""}/`,
    });
  },
};

/** What is printed and what counts as a match are flags of their own. */
export const grepFlags: Scenario = {
  name: "grep-flags",
  draw(random) {
    const [word = "", folder = ""] = random.some(plainWords, 2);
    const who = random.pick(people);
    const [names, anyCase] = [random.chance(0.5), random.chance(0.5)];
    const match = anyCase
      ? `The word may be written in capitals as well, and longer words that contain it, such as ${word}s, count too`
      : `The word is always in small letters, and longer words that contain it, such as ${word}s, must not count`;
    return crossedSides({
      situation: `${who} looks for ${word} in the files of the folder ${folder} and wants ${names ? "to see which files have it" : "to see in how many lines of each file it stands"}. ${match}. Flags of grep: -l prints the names of files with a match; -c prints for each file the number of matching lines; -i takes capital and small letters as equal; -w takes only whole words. Without -i, case matters; without -w, parts of words match.`,
      question: "Which command gives what is wanted?",
      fields: ["output_flag", "match_flag"],
      first: sides(names, "-l", "-c"),
      second: sides(anyCase, "-i", "-w"),
      say: (output, flag) => `grep ${output} ${flag} ${word} ${folder}/*`,
    });
  },
};

/** A shared history only grows; a private one may be cut. */
export const takeBack: Scenario = {
  name: "take-back",
  draw(random) {
    const ids = Array.from({ length: 4 }, () => random.between(0x1000, 0xffff).toString(16));
    const [one = "", two = "", three = "", four = ""] = random.some(plainWords, 4);
    const topics = [one, two, three, four];
    const branch = random.pick(people).toLowerCase();
    const [shared, itself] = [random.chance(0.5), random.chance(0.5)];
    const list = ids.map((id, at) => `${id} adds the page ${topics[at] ?? ""}`).join("\n");
    const at = random.between(0, 2);
    const [bad, good] = sides(itself, at, at + 1);
    const page = topics[at] ?? "";
    const need = shared
      ? `Others already have the branch, so none of its commits may disappear from the history; only ${itself ? `the page ${page}` : `the page that was added directly after ${page}`} is to go.`
      : `Nobody else has the branch; ${itself ? `the page ${page} and all that were added after it` : `all pages that were added after ${page}, which itself stays,`} are to vanish from the history as well.`;
    return crossedSides({
      situation: `The branch ${branch} has these commits, the oldest first:\n${list}\nrevert ID adds a new commit that takes back what the commit ID did, and nothing else. drop ID removes the commit ID and all later ones from the history. ${need}`,
      question: "Which command is right?",
      fields: ["command", "commit"],
      first: sides(shared, "revert", "drop"),
      second: [ids[bad] ?? "", ids[good] ?? ""],
      say: (command, id) => `${command} ${id}`,
    });
  },
};
