/** The judge that the environment names, if it names one. */
import { z } from "zod";
import { ShinkenError } from "../../errors/index.js";
import type { JudgeModel } from "./model.js";
import { OpenAiJudge } from "./openai.js";
import { RecordedJudge } from "./recorded.js";

const price = z
  .string()
  .regex(/^\d+(\.\d+)?,\d+(\.\d+)?$/, 'must be "input,output" in US dollars for a million tokens')
  .transform((text) => {
    const [input = 0, output = 0] = text.split(",").map(Number);
    return { input, output };
  });

/**
 * Opens the judge of `SHINKEN_JUDGE_URL`, `_MODEL`, `_KEY`, `_PRICE` and `_RECORD` (a file of replies: what it holds is not asked again,
 * and without a URL nothing else is). Undefined where neither a URL nor a file is named. Rejects with `judge_failed`.
 */
export async function judgeFromEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<JudgeModel | undefined> {
  const named = (name: string): string | undefined => environment[`SHINKEN_JUDGE_${name}`] || undefined;
  const [url, file, model] = [named("URL"), named("RECORD"), named("MODEL")];
  if (url === undefined && file === undefined) return undefined;
  if (model === undefined)
    throw new ShinkenError("judge_failed", "SHINKEN_JUDGE_MODEL is not set", {
      suggestion: "name the model that the endpoint shall use",
    });
  const rate = named("PRICE");
  const parsed = rate === undefined ? undefined : price.safeParse(rate);
  if (parsed?.success === false)
    throw new ShinkenError("judge_failed", `SHINKEN_JUDGE_PRICE ${parsed.error.issues[0]?.message ?? ""}`);
  const endpoint =
    url === undefined ? null : new OpenAiJudge({ url, model, key: named("KEY"), price: parsed?.data });
  return file === undefined ? (endpoint ?? undefined) : RecordedJudge.open(file, model, endpoint);
}
