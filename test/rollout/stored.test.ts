import { expect, it } from "vitest";
import { makeTask } from "../../src/env/task/index.js";
import { outcomeOf, takeVerdict } from "../../src/rollout/episode.js";
import { attemptRecord } from "../../src/rollout/pipeline/attempt.js";
import { storedEpisodes } from "../../src/rollout/stored.js";
import { document } from "../env/session-support.js";

it("an episode is stored under the graders that gave its verdict, or that were to give it", () => {
  const task = makeTask(document);
  const variant = task.variant();
  const outcome = { ...outcomeOf(task.id, 0, 1), attempts: [attemptRecord()] };
  const stored = () => storedEpisodes(outcome, variant, task.verifierVersion)[0];
  expect(stored()).toMatchObject({ taskVersion: task.version, verifierVersion: task.verifierVersion });
  takeVerdict(outcome, {
    ...{ task: task.id, taskVersion: "0.9.0", verifierVersion: "others" },
    ...{ status: "graded", score: 1, passed: true, checks: [] },
  });
  expect(stored()).toMatchObject({ status: "graded", taskVersion: "0.9.0", verifierVersion: "others" });
});
