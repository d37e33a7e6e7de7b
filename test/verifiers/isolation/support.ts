/** What the tests of a grader's isolation share: checks in short, and grading with assets. */
import { createHash } from "node:crypto";
import type { Sandbox } from "../../../src/sandbox/sandbox.js";
import { evaluateGraph, type GradeContext, type Verdict } from "../../../src/verifiers/index.js";
import { graphOf, silent } from "../support.js";

export const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Runs a script in a machine and gives what it printed; throws what it said if it fails. */
export async function run(box: Sandbox, script: string, user = "agent"): Promise<string> {
  const { exitCode, stdout, stderr } = await box.exec({
    argv: ["sh", "-c", script],
    user,
    timeoutMs: 120_000,
    cwd: "/home/agent",
  });
  if (exitCode !== 0) throw new Error(`exit code ${exitCode}: ${text(stderr)}`);
  return text(stdout);
}

/** Grading assets of a graph by name. */
export type Assets = Readonly<Record<string, string>>;

/** Grades a graph in grade forks of a machine. */
export function gradeOn(
  box: Sandbox,
  graph: unknown,
  assets: Assets = {},
  more: Partial<GradeContext> = {},
): Promise<Verdict> {
  const declared = Object.entries(assets).map(([name, content]) => [
    name,
    { sha256: createHash("sha256").update(content).digest("hex"), for: "grading" as const },
  ]);
  return evaluateGraph(
    graphOf(graph, {
      assets: Object.fromEntries(declared) as Record<string, { sha256: string; for: "grading" }>,
    }),
    {
      fork: () => box.fork("grade"),
      episode: silent,
      readAsset: (name) => Promise.resolve(Buffer.from(assets[name] ?? "")),
      ...more,
    },
  );
}

/** A check that must hold in the machine as it comes, between others that may not. */
export function sound(id: string): object {
  return {
    id,
    channel: "fs",
    query: { kind: "text", path: "/etc/debian_version" },
    assert: { type: "text", matches: "." },
  };
}

/** A check by a command of the read-only image. */
export function command(id: string, argv: readonly unknown[], equals: unknown, more: object = {}): object {
  const { query = {}, ...rest } = more as { query?: object };
  return {
    id,
    channel: "exec-json",
    query: { argv, ...query },
    assert: { type: "json", equals },
    ...rest,
  };
}

/** The status of each check, and for what did not pass its evidence. */
export function told(verdict: Verdict): Record<string, string> {
  return Object.fromEntries(
    verdict.checks.map(({ id, status, evidence }) => [
      id,
      status === "passed" ? status : `${status}: ${evidence}`,
    ]),
  );
}
