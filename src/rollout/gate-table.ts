/** The gates by name, each with what it demands and why. `shinken task check` explains them from here. */
export const gateTable = {
  runs: "The machine can be set up, the oracle's actions and the mutations' steps carried out, and every verdict graded.",
  oracle:
    "The oracle's actions end in a score of 1: the task can be solved, and its grader sees that it was.",
  milestones:
    "There are at least two, and the oracle earns each: none holds from the start, none is out of reach.",
  repeat: "Grading the solved state twice gives the same verdict to the byte.",
  mutations:
    "Each changed end state fails, as do the checks that it names; and every check is flipped by one: it can fail.",
  null: "Doing nothing scores 0 and earns no milestone.",
  done_only: "Only saying that it is done scores 0 and earns no milestone: claims are not paid for.",
  fail_only: "Only giving up scores 0 and earns no milestone, but where the task is to be refused.",
  order: "The oracle scores the same when tasks run in reverse order: no task leaves anything to another.",
} as const;

export type GateName = keyof typeof gateTable;
export const gateNames = Object.keys(gateTable) as GateName[];

/** What is wrong with a task, by the gate that found it. */
export interface Problem {
  gate: GateName;
  /** In a sentence. */
  problem: string;
}
