/** The one door to published scorers: every profile by its id, for check graphs, for commands and for other programs. */
import { ShinkenError } from "../errors/index.js";
import { nearest } from "../errors/nearest.js";
import { androidWorldComposite } from "./androidworld/scorers/composite.js";
import { gaiaQuestion } from "./gaia/scorers/question.js";
import { hudCall } from "./hud/scorers/call.js";
import { hudReward } from "./hud/scorers/reward.js";
import { mind2webOperation, mind2webPostprocess } from "./mind2web/scorers/operation.js";
import { mind2webSteps } from "./mind2web/scorers/steps.js";
import { mind2web2Tree } from "./mind2web2/scorers/tree.js";
import { osworldLists } from "./osworld/scorers/lists.js";
import { osworldRelativeTime } from "./osworld/scorers/relative-time.js";
import type { Profile, Scorer } from "./scorer.js";
import { sheetCells } from "./sheetbench/scorers/cells.js";
import { tacCredit, tacStrategy } from "./theagentcompany/scorers/credit.js";
import { vwaHtml, vwaUrl } from "./visualwebarena/scorers/page.js";
import { vwaString } from "./visualwebarena/scorers/string.js";
import { vwaRequiredValue } from "./visualwebarena/scorers/values.js";
import { waHtml } from "./webarena/scorers/html.js";
import { waString } from "./webarena/scorers/string.js";
import { waTask } from "./webarena/scorers/task.js";
import { waUrl } from "./webarena/scorers/url.js";
import { webjudgeScore, webjudgeStatus } from "./webjudge/scorers/replies.js";
import { webvoyagerVerdict } from "./webvoyager/scorers/verdict.js";

const all: readonly Record<Profile, Scorer>[] = [
  androidWorldComposite,
  gaiaQuestion,
  hudCall,
  hudReward,
  mind2webOperation,
  mind2webPostprocess,
  mind2webSteps,
  mind2web2Tree,
  osworldLists,
  osworldRelativeTime,
  sheetCells,
  tacCredit,
  tacStrategy,
  vwaHtml,
  vwaRequiredValue,
  vwaString,
  vwaUrl,
  waHtml,
  waString,
  waTask,
  waUrl,
  webjudgeScore,
  webjudgeStatus,
  webvoyagerVerdict,
];

const byId: ReadonlyMap<string, Scorer> = new Map(
  all.flatMap(({ faithful, strict }) => [faithful, strict]).map((scorer) => [scorer.id, scorer]),
);

/** Every id, sorted. */
export const scorerIds: readonly string[] = [...byId.keys()].sort();

/** The scorer of an id such as `gaia.question.v1/faithful`; `bad_request` if there is none. */
export function findScorer(id: string): Scorer {
  const found = byId.get(id);
  if (found !== undefined) return found;
  const meant = nearest(id, scorerIds);
  throw new ShinkenError("bad_request", `there is no scorer "${id}"`, {
    path: id,
    suggestion: meant === undefined ? `there are ${scorerIds.join(", ")}` : `did you mean "${meant}"?`,
  });
}
