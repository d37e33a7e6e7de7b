/** One door to all assertions. Pure: the same assertion and value give the same judgement, in any thread. */
import { type Answer, ContentFault, type Judgement } from "../value.js";
import { judgeBytes } from "./bytes.js";
import { judgeDate } from "./date/judge.js";
import { judgeQuantity } from "./quantity/judge.js";
import { judgeFile } from "./file.js";
import type { GroundAssertion } from "./ground.js";
import { judgeImage } from "./image.js";
import { judgeJson } from "./json.js";
import { judgeList } from "./list.js";
import { judgeNumber } from "./number.js";
import { judgeTable } from "./table.js";
import { judgeText } from "./text.js";

/** Judges an answer. Throws `ContentFault` where the value's type is not the assertion's. */
export function judge(assertion: GroundAssertion, answer: Answer): Judgement {
  if (assertion.type === "file") {
    if ("absent" in answer) return judgeFile(assertion, null);
    if (answer.type === "file") return judgeFile(assertion, answer.value);
    throw wrongType(assertion.type, answer.type);
  }
  if ("absent" in answer) return { score: 0, evidence: answer.absent };
  switch (assertion.type) {
    case "text":
      if (answer.type === "text") return judgeText(assertion, answer.value);
      break;
    case "quantity":
      if (answer.type === "text") return judgeQuantity(assertion, answer.value);
      break;
    case "date":
      if (answer.type === "text") return judgeDate(assertion, answer.value);
      break;
    case "number":
      if (answer.type === "number") return judgeNumber(assertion, answer.value);
      break;
    case "json":
      if (answer.type === "json") return judgeJson(assertion, answer.value);
      break;
    case "table":
      if (answer.type === "table") return judgeTable(assertion, answer);
      break;
    case "list":
    case "set":
      if (answer.type === "list") return judgeList(assertion, answer.value);
      break;
    case "bytes":
      if (answer.type === "bytes") return judgeBytes(assertion, answer.value);
      break;
    case "image":
      if (answer.type === "image") return judgeImage(assertion, answer.value);
      break;
  }
  throw wrongType(assertion.type, answer.type);
}

function wrongType(wanted: string, seen: string): ContentFault {
  return new ContentFault(`wrong type: a ${wanted} assertion cannot judge ${seen}`);
}

/** Sizes, in characters, bytes or cells, above which a judgement leaves the main thread. */
const INLINE_LIMIT = 64 * 1024;

/** True where judging could take long: patterns, pictures and large values. */
export function isHeavy(assertion: GroundAssertion, answer: Answer): boolean {
  if ("absent" in answer) return false;
  if (assertion.type === "text" && assertion.matches !== undefined) return true;
  return weightOf(answer) > INLINE_LIMIT;
}

function weightOf(answer: Exclude<Answer, { absent: string }>): number {
  switch (answer.type) {
    case "text":
    case "bytes":
      return answer.value.length;
    case "list":
      return answer.value.reduce<number>(
        (sum, item) => sum + (typeof item === "string" ? item.length : 8),
        0,
      );
    case "table":
      return answer.rows.length * Math.max(1, answer.columns.length) * 16;
    case "json":
      return roughSize(answer.value);
    case "image":
      // A hash costs as much whatever the picture's size.
      return Number.POSITIVE_INFINITY;
    default:
      return 0;
  }
}

/** Counts values and characters until the limit is passed; never deeper than it needs to. */
function roughSize(value: unknown): number {
  const open: unknown[] = [value];
  let size = 0;
  while (open.length > 0 && size <= INLINE_LIMIT) {
    const one = open.pop();
    size += typeof one === "string" ? one.length : 8;
    if (typeof one === "object" && one !== null) for (const field of Object.values(one)) open.push(field);
  }
  return size;
}
