/** Forms, dialogs, wizards and rows of boxes: what is seen decides what comes next. */
import { pooled } from "../../drafts.js";
import type { Scenario } from "../../types.js";
import { cities, fileNames, people, plainWords } from "../../words.js";

/** From top to bottom; what already is as wanted is left alone. */
export const formFields: Scenario = {
  name: "form-fields",
  draw(random) {
    const [name = "", otherName = ""] = random.some(people, 2);
    const [city = "", otherCity = ""] = random.some(cities, 2);
    const [topic = "", otherTopic = ""] = random.some(plainWords, 2);
    const wanted = [
      ["Name", name, otherName],
      ["City", city, otherCity],
      ["Topic", topic, otherTopic],
    ];
    const right = random.below(4);
    const shown = wanted.map(([field, value, other], at) => {
      const good = at < right || (at > right && random.chance(0.3));
      return `${field ?? ""}: ${good ? (value ?? "") : random.chance(0.5) ? (other ?? "") : "(empty)"}`;
    });
    return pooled({
      situation: `A form is to be sent with Name ${name}, City ${city} and Topic ${topic}. Fields are dealt with from top to bottom; one that already holds what is wanted is left alone, any other is overwritten. Once all three are right, Enter is pressed on Send. The screen shows, from top to bottom:\n${shown.join("\n")}`,
      question: "What is the next action?",
      fields: ["action", "control", "value"],
      options: [
        ["type", "Name", name],
        ["type", "City", city],
        ["type", "Topic", topic],
        ["press", "Send", "Enter"],
      ],
      right,
      say: (action, control, value) => `${action} ${value} on ${control}`,
    });
  },
};

/** Only a box that blocks the window must be answered first. */
export const boxOrWindow: Scenario = {
  name: "box-or-window",
  draw(random) {
    const [topic, who] = [random.pick(plainWords), random.pick(people)];
    const [first = "", second = ""] = random.pick([
      ["Send", "Save draft"],
      ["Print", "Export"],
      ["Publish", "Preview"],
      ["Share", "Archive"],
    ]);
    const [blocks, later, one] = [random.chance(0.5), random.chance(0.5), random.chance(0.5)];
    const hour = random.between(8, 20);
    return pooled({
      situation: `${who} wants the command ${one ? first : second} for the message about ${topic}. The window shows the message with the buttons ${first} and ${second}. A box says that an update is ready and has the buttons Later and Install. ${blocks ? "As long as it is open, the window takes no clicks" : "The window takes clicks while it is open"}. A box is answered only if it must be; from ${hour}:00 on updates are to be installed, before that they are to be put off. Installing takes a moment, closes the box and leaves the window as it is. It is ${later ? hour - random.between(1, 5) : hour + random.between(0, 3)}:${random.between(10, 59)}.`,
      question: "What is to be clicked next?",
      fields: ["place", "button"],
      options: [
        ["box", "Later"],
        ["box", "Install"],
        ["window", first],
        ["window", second],
      ],
      right: blocks ? (later ? 0 : 1) : one ? 2 : 3,
      say: (place, button) => `${button} in the ${place}`,
    });
  },
};

/** A wizard's summary shows how many pages one must go back. */
export const wizard: Scenario = {
  name: "wizard",
  draw(random) {
    const [folder = "", otherFolder = "", part = "", otherPart = ""] = random.some(plainWords, 4);
    const free = random.between(200, 900);
    const right = random.below(4);
    const needed = right === 3 ? free + random.between(1, 200) : free - random.between(1, 150);
    return pooled({
      situation: `An installer has the pages Folder, Parts and Summary, in this order; Back goes one page back, and what was chosen on it can then be changed. The folder has to be ${folder}, the part ${part}. If the summary needs more space than is free, Cancel is pressed, whatever else it shows; if all is as it has to be, Install; otherwise one goes back to the page where the wrong choice was made. The page Summary shows: folder ${right === 1 || (right === 3 && random.chance(0.5)) ? otherFolder : folder}, part ${right === 0 ? otherPart : part}, space needed ${needed} MB, space free ${free} MB.`,
      question: "Which button is to be pressed next, and how often in a row?",
      fields: ["button", "times"],
      options: [
        ["Back", "1"],
        ["Back", "2"],
        ["Install", "1"],
        ["Cancel", "1"],
      ],
      right,
      say: (button, times) => `${button}, times: ${times}`,
    });
  },
};

/** Boxes first, then the command. */
export const tickedRows: Scenario = {
  name: "ticked-rows",
  draw(random) {
    const files = random.some(fileNames, 4);
    const wanted = files.map(() => random.chance(0.5));
    const [odd, fine] = random.some([0, 1, 2, 3], 2) as [number, number];
    // One of the four may be ticked amiss; which and whether decides.
    const right = random.below(4);
    const amiss = right === 0 ? odd : right === 1 ? fine : -1;
    const rows = files.map(
      (file, at) => `${(wanted[at] ?? false) !== (at === amiss) ? "[x]" : "[ ]"} ${file}`,
    );
    const verb = right === 2 || (right < 2 && random.chance(0.5)) ? "Delete" : "Archive";
    const list = files.filter((_, at) => wanted[at]);
    const [a = "", b = ""] = [odd, fine].map((at) => files[at] ?? "");
    return pooled({
      situation: `In a list the command ${verb} is wanted for ${list.length === 0 ? "no file at all: then every box has to be empty and the command is pressed all the same" : `exactly these files: ${list.join(", ")}`}. A command acts on all rows whose box is ticked, [x]; a click on a box changes it. The list shows:\n${rows.join("\n")}\nBelow it are the buttons Delete and Archive.`,
      question: "What is to be clicked next?",
      fields: ["control", "name"],
      options: [
        ["box", a],
        ["box", b],
        ["button", "Delete"],
        ["button", "Archive"],
      ],
      right,
      say: (control, name) => `the ${control} ${name}`,
    });
  },
};
