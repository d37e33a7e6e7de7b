/** Graders against people: labelled end states, agreement, changes of verdicts, and where to look first. */
export { type Agreement, agreements, type ListedCase, type Share, type Tally } from "./agreement.js";
export { type Case, casesOfRecord, casesOfStates, lineOf } from "./cases.js";
export { type Corpus, type EndState, isRecord, loadCorpus, loadRecord } from "./corpus.js";
export { type DiffCase, type DiffReport, differs, diffVerdicts, type VerdictChange } from "./diff.js";
export { gradeStates, gradeStatesTwice, type GradeStatesOptions, type VerdictPair } from "./grade.js";
export { parseRecord, type RecordLine, type VerdictRecord } from "./record.js";
export { renderAgreements, renderDiff, renderTriage } from "./render.js";
export { type Label, LABELS_FORMAT, labels, labelsJsonSchema } from "./schema.js";
export { suspicions, triage, type TriagedCase } from "./triage.js";
