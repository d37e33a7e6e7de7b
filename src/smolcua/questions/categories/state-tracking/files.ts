/** State of files, folders and shells after a series of events. */
import type { Candidate, Scenario } from "../../types.js";
import { fileNames, folderNames, numbered, plainWords } from "../../words.js";

const at = (folder: string, name: string): Candidate => ({
  text: `${folder}/${name}`,
  values: [folder, name],
});

/** Wrong: the old name, the folder before or after, both. */
export const movedFile: Scenario = {
  name: "moved-file",
  draw(random) {
    const [target = "", other = "", spare = "", renamed = ""] = random.some(fileNames, 4);
    const [first = "", second = "", third = "", fourth = ""] = random.some(folderNames, 4);
    const twice = random.chance(0.5);
    const events = [
      `${target} is created in ${first}.`,
      `${other} is created in ${second}.`,
      `${target} is moved to ${third}.`,
      `${other} is renamed to ${spare}.`,
      `${target} is renamed to ${renamed}.`,
      twice ? `${renamed} is moved to ${fourth}.` : `${spare} is moved to ${fourth}.`,
    ];
    const [end, elsewhere] = twice ? [fourth, third] : [third, fourth];
    return {
      situation: `In a file manager this happens, in this order:\n${numbered(events)}`,
      question: `Where is the file that was created as ${target} now, and what is it called?`,
      fields: ["folder", "name"],
      right: at(end, renamed),
      wrong: [at(end, target), at(elsewhere, renamed), at(elsewhere, target)],
    };
  },
};

/** `cd -` goes back to where one was, `cd ..` to the folder above. */
export const shellFolder: Scenario = {
  name: "shell-folder",
  draw(random) {
    const [user = "", a = "", b = "", c = "", d = ""] = random.some(plainWords, 5);
    const home = `/home/${user}`;
    const deeper = `${home}/${a}/${b}/${c}`;
    const middle = `${home}/${a}/${b}`;
    const aside = `/srv/${d}`;
    // Where each command leads, and what a slip makes of it.
    const [commands, now, before, slips] = random.pick([
      [
        [`cd ${home}/${a}`, `cd ${b}/${c}`, "cd ..", `cd ${aside}`, "cd -"],
        middle,
        aside,
        [deeper, `${home}/${a}`],
      ],
      [[`cd ${home}/${a}`, `cd ${b}/${c}`, "cd ..", `cd ${aside}`], aside, middle, [deeper, `${home}/${a}`]],
      [[`cd ${home}/${a}/${b}`, `cd ${c}`, `cd ${aside}`, "cd -"], deeper, aside, [middle, `${aside}/${c}`]],
      [[`cd ${aside}`, `cd ${middle}/${c}`, "cd -", "cd -"], deeper, aside, [middle, `${home}/${a}`]],
      [[`cd ${middle}`, `cd ${aside}`, "cd -", `cd ${c}`], deeper, middle, [aside, `${aside}/${c}`]],
    ] as const);
    const option = (present: string, former: string): Candidate => ({
      text: `PWD is ${present}, OLDPWD is ${former}`,
      values: [present, former],
    });
    return {
      situation: `A shell starts in /tmp. All folders exist. These commands are given, in this order:\n${numbered(commands)}`,
      question: "What do the variables PWD and OLDPWD hold afterwards?",
      fields: ["pwd", "oldpwd"],
      right: option(now, before),
      wrong: [option(before, now), option(slips[0], before), option(now, slips[random.below(2)] ?? slips[0])],
    };
  },
};

/** A variable set in a child shell is gone with it; one that is not exported never gets there. */
export const shellVariables: Scenario = {
  name: "shell-variables",
  draw(random) {
    const [one = "", two = "", three = ""] = random.some(plainWords, 3);
    const [name, other] = random.some(["MODE", "LEVEL", "STAGE", "TARGET", "COLOR", "REGION"], 2) as [
      string,
      string,
    ];
    const exported = random.chance(0.5);
    const commands = [
      `${name}=${one}`,
      exported ? `export ${other}=${two}` : `${other}=${two}`,
      `bash -c '${name}=${three}; echo "\${${other}:-empty}"'`,
      `echo "$${name}"`,
    ];
    const inner = exported ? two : "empty";
    const option = (first: string, second: string): Candidate => ({
      text: `first ${first}, then ${second}`,
      values: [first, second],
    });
    const otherInner = exported ? "empty" : two;
    return {
      situation: `In a new bash, in which neither ${name} nor ${other} is set, these lines are entered, in this order:\n${numbered(commands)}`,
      question: "Which two lines are printed?",
      fields: ["first", "second"],
      right: option(inner, one),
      wrong: [option(inner, three), option(otherInner, one), option(otherInner, three)],
    };
  },
};

/** Files that are deleted go to the trash with their folder's name; restoring brings them back, emptying does not. */
export const trash: Scenario = {
  name: "trash",
  draw(random) {
    const names = random.some(fileNames, random.between(3, 5));
    const emptiedAfter = random.between(1, names.length - 1);
    const restored = random.pick(names);
    const events = names.flatMap((name, index) => [
      `${name} is deleted.`,
      ...(index + 1 === emptiedAfter ? ["The trash is emptied."] : []),
    ]);
    events.push(`Somebody tries to restore ${restored} from the trash.`);
    const back = names.indexOf(restored) >= emptiedAfter;
    const left = names.length - emptiedAfter - (back ? 1 : 0);
    const other = random.pick([left + 1, left + 2, ...(left > 0 ? [left - 1] : [])]);
    const option = (state: string, count: number): Candidate => ({
      text: `${restored} is ${state}, and the number of files in the trash is ${count}`,
      values: [state, String(count)],
    });
    const [state, not] = back ? ["back again", "gone for good"] : ["gone for good", "back again"];
    return {
      situation: `A desktop moves deleted files to a trash, which is empty at first; files that were in it when it is emptied cannot be restored.\n${numbered(events)}`,
      question: `What is the state of ${restored} and of the trash afterwards?`,
      fields: ["state", "count"],
      right: option(state, left),
      wrong: [option(not, left), option(state, other), option(not, other)],
    };
  },
};
