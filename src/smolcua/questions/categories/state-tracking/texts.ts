/** State of texts, clipboards, cells and forms after a series of events. */
import type { Candidate, Scenario } from "../../types.js";
import { cities, numbered, people, plainWords } from "../../words.js";

/** A new edit after an undo drops what could be done again. */
export const undoRedo: Scenario = {
  name: "undo-redo",
  draw(random) {
    const words = random.some(plainWords, 5);
    let done = words.slice(0, 3);
    let undone: string[] = [];
    const events = done.map((word) => `The word ${word} is typed at the end.`);
    const undo = (): void => {
      events.push("Undo.");
      undone.push(...done.splice(-1));
    };
    const redo = (): void => {
      events.push("Redo.");
      done.push(...undone.splice(-1));
    };
    undo();
    if (random.chance(0.5)) undo();
    if (random.chance(0.4)) redo();
    const typed = words[3] ?? "";
    const without = [...done, ...undone.toReversed()];
    events.push(`The word ${typed} is typed at the end.`);
    [done, undone] = [[...done, typed], []];
    redo();
    if (random.chance(0.5)) undo();
    const option = (text: readonly string[]): Candidate => ({
      text: `${text.length} words: ${text.join(" ")}`,
      values: [text.join(" "), String(text.length)],
    });
    // As if redo had worked, as if the text were shorter, as if typing had kept the steps.
    const swapped = [...done.slice(0, -2), ...done.slice(-2).toReversed()];
    const others = [
      [...done, words[2] ?? ""],
      done.slice(0, -1),
      swapped,
      [...without, typed],
      [words[0] ?? "", typed],
    ];
    const fresh = random.shuffled(
      others.filter((text) => text.length > 1 && text.join(" ") !== done.join(" ")),
    );
    const [x = [], y = [], z = []] = fresh;
    return {
      situation: `In an editor each typed word is one step for undo. Typing drops all steps that could be done again; redo without such a step does nothing. The text is empty at first.\n${numbered(events)}`,
      question: "What is the text afterwards, and how many words does it have?",
      fields: ["text", "count"],
      right: option(done),
      wrong: [option(x), option(y), option(z)],
    };
  },
};

/** Copying replaces the clipboard, pasting does not; cutting does both. */
export const clipboard: Scenario = {
  name: "clipboard",
  draw(random) {
    const [one = "", two = "", three = ""] = random.some(plainWords, 3);
    const cut = random.chance(0.5);
    const events = [
      `${one} is selected in the field Name and copied.`,
      `${two} is selected in the field City and ${cut ? "cut" : "deleted with the Delete key"}.`,
      `${three} is selected in the field Note, and the clipboard is pasted over it.`,
    ];
    const pasted = cut ? two : one;
    const not = cut ? one : two;
    const option = (note: string, city: string): Candidate => ({
      text: `Note: ${note}, City: ${city}`,
      values: [note, city],
    });
    return {
      situation: `A form has the fields Name (${one}), City (${two}) and Note (${three}). Its clipboard holds one text.\n${numbered(events)}`,
      question: "What do the fields Note and City hold afterwards?",
      fields: ["note", "city"],
      right: option(pasted, "empty"),
      wrong: [option(not, "empty"), option(pasted, two), option(three, "empty")],
    };
  },
};

/** A relative reference moves with the cell it is copied to, one with dollar signs does not. */
export const copiedFormula: Scenario = {
  name: "copied-formula",
  draw(random) {
    const a1 = random.between(2, 9);
    const a2 = a1 + random.between(1, 9);
    const rate = random.between(2, 6);
    const fixed = random.chance(0.5);
    const next = rate + random.between(1, 4);
    const changed = a2 + random.between(2, 7);
    const formula = fixed ? "=A1*$C$1" : "=A1*C1";
    const events = [
      `B1 is set to the formula ${formula}.`,
      "B1 is copied and pasted into B2.",
      `A2 is changed to ${changed}.`,
    ];
    const b1 = a1 * rate;
    const b2 = changed * (fixed ? rate : next);
    const other = changed * (fixed ? next : rate);
    const option = (one: number, two: number): Candidate => ({
      text: `B1 shows ${one}, B2 shows ${two}`,
      values: [String(one), String(two)],
    });
    return {
      situation: `In a sheet A1 is ${a1}, A2 is ${a2}, C1 is ${rate} and C2 is ${next}. It recalculates at once.\n${numbered(events)}`,
      question: "What do B1 and B2 show afterwards?",
      fields: ["b1", "b2"],
      right: option(b1, b2),
      wrong: [option(b1, other), option(b1, a2 * (fixed ? rate : next)), option(changed * rate, b2)],
    };
  },
};

/** A form that is reset has the values it was loaded with, one that is saved has new ones to go back to. */
export const formReset: Scenario = {
  name: "form-reset",
  draw(random) {
    const [city = "", newCity = "", lastCity = ""] = random.some(cities, 3);
    const [name = "", newName = ""] = random.some(people, 2);
    const saved = random.chance(0.5);
    const events = [
      `City is changed to ${newCity}.`,
      `Name is changed to ${newName}.`,
      ...(saved ? ["Save is pressed."] : []),
      `City is changed to ${lastCity}.`,
      "Reset is pressed.",
      ...(saved ? [] : [`Name is changed to ${newName}.`]),
    ];
    const endName = newName;
    const endCity = saved ? newCity : city;
    const otherCity = saved ? city : newCity;
    const option = (who: string, where: string): Candidate => ({
      text: `${who} in ${where}`,
      values: [who, where],
    });
    return {
      situation: `A profile form was loaded with the name ${name} and the city ${city}. Reset puts every field back to what was last saved, or loaded if nothing was.\n${numbered(events)}`,
      question: "Which name and city does the form show afterwards?",
      fields: ["name", "city"],
      right: option(endName, endCity),
      wrong: [option(name, endCity), option(endName, otherCity), option(name, otherCity)],
    };
  },
};
