/**
 * What is run once so that no child pays for it: in the machine, before it becomes an image's golden, what fills the page
 * cache; in a throw-away fork, what decodes code that all later forks then share.
 */
import { AgentClient } from "../agent/index.js";
import type { NativeGolden } from "./addon.js";
import type { Family } from "./family.js";
import { replicaOf } from "./fork.js";

/** Changes whenever what is done to an image's golden changes: part of its key. */
export const WARM_RECIPE = "warm-2";

/** Changes whenever `warmCode` meets other code: a file that an earlier one served is decoded again. */
export const CODE_RECIPE = 4;

/** Starts that nearly every episode makes. */
const quick: readonly string[][] = [["true"], ["sh", "-c", "true"]];

/** The likely rest, by how often it is met. A program that an image lacks is passed over. */
const common: readonly string[][] = [
  ["bash", "-c", "true"],
  ["bash", "-c", "for i in 1 2; do echo $i | cat | wc -l; done; test -f /etc/passwd && [[ a == a ]]"],
  ["ls", "-la", "/etc"],
  ["cat", "/etc/hostname"],
  ["grep", "-r", "root", "/etc/passwd"],
  ["sed", "-n", "1p", "/etc/passwd"],
  ["sh", "-c", "head -n 1 /etc/passwd | tail -n 1 | sort | uniq | cut -d: -f1 | tr a-z A-Z"],
  [
    "sh",
    "-c",
    "mkdir -p /tmp/w/a && cp /etc/passwd /tmp/w/a/p && mv /tmp/w/a/p /tmp/w/q && chmod 600 /tmp/w/q && rm -r /tmp/w",
  ],
  ["find", "/etc", "-maxdepth", "1", "-name", "*.conf"],
  ["awk", "-F:", "{print $1}", "/etc/passwd"],
  ["python3", "-c", "print(1)"],
  ["python3", "-c", "import json, csv, re, os, sys, sqlite3, subprocess, pathlib, collections, datetime"],
  ["git", "--version"],
  ["sh", "-c", "cd /tmp && git init -q w && cd w && git status --short && cd .. && rm -rf w"],
  ["sqlite3", ":memory:", "select 1"],
  ["jq", "-n", "1"],
  ["ps"],
];

/** Guest time for each of the commands; one that hangs costs no more. */
const COMMAND_MS = 60_000;

async function runAll(agent: AgentClient, commands: readonly string[][]): Promise<void> {
  for (const argv of commands) {
    // An image without the program answers with an error that is of no interest here.
    await agent
      .exec({ argv: [...argv], user: "agent", cwd: "/", timeoutMs: COMMAND_MS, maxOutputBytes: 4096 })
      .catch(ignoreGuest);
  }
}

function ignoreGuest(error: unknown): void {
  if (error instanceof Error && "code" in error && error.code === "guest_error") return;
  throw error;
}

/** Fills the machine's page cache with what the commands read. */
export async function fillPageCache(agent: AgentClient): Promise<void> {
  await runAll(agent, [...quick, ...common]);
}

/** What an agent leaves behind for checks to find: a file of its own, and a program that goes on. */
const leftBehind =
  "mkdir -p /tmp/warm && echo 1 >/tmp/warm/a && setsid sleep 9999 >/dev/null 2>&1 </dev/null &";

/** What checks do, as they do it: a frozen workload, looks that wait together, files, processes, a program of the image. */
async function gradeOnce(grader: AgentClient): Promise<void> {
  await Promise.all([
    grader.freeze(true),
    grader.look("/etc/passwd"),
    grader.look("/tmp/warm/a"),
    grader.look("/tmp/warm/missing"),
    grader.statIfExists("/tmp/warm"),
    grader.readFile("/etc/passwd"),
    grader.list("/etc"),
    grader.commandLines(),
    grader.processes(),
  ]);
  for (const argv of quick)
    await grader.exec({ argv: [...argv], user: "root", cleanEnv: true }, { image: true });
}

export type WarmDepth = "quick" | "full";

/**
 * Decodes code in a throw-away fork for all forks to come: `quick` the uniqueness step, the smallest commands and what
 * checks do (some ten milliseconds), `full` the common programs too (about a second).
 */
export async function warmCode(
  source: { native: NativeGolden; family: Family; nextStream: number },
  depth: WarmDepth,
): Promise<void> {
  // Without a seed, as most forks are: only then its agent sets the clock, which takes a good deal of the kernel's code.
  const fork = await replicaOf(source, { seed: null });
  try {
    await runAll(fork.agent, depth === "quick" ? quick : [...quick, ...common]);
    await runAll(fork.agent, [["sh", "-c", leftBehind]]);
    await gradeOnce(new AgentClient(fork.transport, { port: 1 }));
    await fork.native.shareCodeWith(source.native);
  } finally {
    await fork.close();
  }
}
