/** What is the state after a series of events? */
import type { Scenario } from "../../types.js";
import { movedFile, shellFolder, shellVariables, trash } from "./files.js";
import { clipboard, copiedFormula, formReset, undoRedo } from "./texts.js";
import { dependentSettings, focus, queue, tabs } from "./windows.js";

export const scenarios: readonly Scenario[] = [
  movedFile,
  shellFolder,
  shellVariables,
  trash,
  tabs,
  focus,
  dependentSettings,
  queue,
  undoRedo,
  clipboard,
  copiedFormula,
  formReset,
];
