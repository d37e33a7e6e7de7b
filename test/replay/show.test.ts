import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { renderEpisode } from "../../src/cli/replay-text.js";
import {
  listEpisodes,
  printable,
  printableJson,
  printableLines,
  type ShownEpisode,
  showEpisode,
} from "../../src/replay/show/index.js";
import {
  died,
  type ExampleEvent,
  letters,
  lettersBranch,
  start,
  stepEvents,
  verdictEvent,
  writeExample,
} from "./export/examples.js";
import { folder } from "./export/reading.js";
import { recorder } from "./support/recording.js";

async function shown(events: ExampleEvent[], session: Record<string, unknown> = {}): Promise<ShownEpisode> {
  const into = recorder();
  const { file } = await writeExample(into, { task: "letters", session, events });
  return showEpisode(join(into.folder, file));
}

const file = "/home/agent/a.txt";
const wrote = { type: "write_file", text: "Wrote.", truncated: false, path: file };
const write = (content: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  type: "write_file",
  path: "a.txt",
  content,
  ...more,
});
const edit = { type: "edit_file", path: "a.txt", old_text: "two", new_text: "zwei" };
const edited = {
  type: "edit_file",
  text: `Replaced 1 occurrence in ${file}, at line 12:\nzwei`,
  truncated: false,
  path: file,
};

describe("an episode that is looked at", () => {
  it("tells steps, rewards and their sum, milestones, what was refused, and the verdict", async () => {
    const into = recorder();
    const { file: bundle, episode } = await writeExample(into, letters);
    const seen = await showEpisode(join(into.folder, bundle));
    expect(seen).toMatchObject({
      finished: true,
      session: { episode, task: "letters", labels: { run: "r1" } },
      totals: { steps: 3, reward: 1, guest_ms: 30 },
      unknown: [],
    });
    expect(seen.steps.map(({ step, reward, return: sum }) => [step, reward, sum])).toEqual([
      [1, 1, 1],
      [2, 0, 1],
      [3, 0, 1],
    ]);
    expect(seen.steps[0]).toMatchObject({
      milestones: [{ check: "written", reward: 1, partial: false }],
      decisions: [{ model: "m-1" }],
      events: [
        { channel: "marker", payload: { kind: "refused" } },
        { channel: "decision" },
        { channel: "action" },
      ],
    });
    expect(seen.verdicts).toMatchObject([{ step: 3, verdict: { score: 0.75, task_version: "1.0.0" } }]);
    expect(seen.verdicts[0]?.verdict).not.toHaveProperty("taskVersion");
  });

  it("of a branch names its parent, and begins after the step that it continues from", async () => {
    const into = recorder();
    const parent = await writeExample(into, letters);
    const { file: bundle } = await writeExample(into, lettersBranch(parent));
    const seen = await showEpisode(join(into.folder, bundle));
    expect(seen.start).toMatchObject({ step: 1, answered: false, state: { digest: "state-1" } });
    expect(seen.steps.map(({ step }) => step)).toEqual([2, 3]);
    expect(renderEpisode(seen, { colour: false })).toContain(`${parent.episode}, from step 1`);
  });

  it("keeps fields that are not known here", async () => {
    const seen = await shown([start("Go.")], { later: { added: 1 } });
    expect(seen.session).toMatchObject({ later: { added: 1 } });
  });

  it("whose recording was cut off says so", async () => {
    const into = recorder();
    const { file: bundle } = await writeExample(into, died);
    const path = join(into.folder, bundle);
    truncateSync(path, statSync(path).size - 100);
    const seen = await showEpisode(path);
    expect(seen.finished).toBe(false);
    expect(renderEpisode(seen, { colour: false })).toContain("not finished");
  });

  it("shows references where the content does not lie beside it", async () => {
    const into = recorder();
    const long = "x".repeat(40_000);
    const results = [{ type: "shell", text: long, truncated: false }];
    const events = [start("Go."), ...stepEvents(1, { actions: [{ type: "shell", command: "x" }], results })];
    const { file: bundle } = await writeExample(into, { task: "letters", events });
    const path = join(into.folder, bundle);
    expect((await showEpisode(path)).steps[0]?.observation).toMatchObject({ results: [{ text: long }] });
    const alone = join(folder(), "letters", "alone.skn");
    mkdirSync(dirname(alone));
    copyFileSync(path, alone);
    expect((await showEpisode(alone)).steps[0]?.observation).toMatchObject({
      results: [{ text: { bytes: 40_000, kind: "text" } }],
    });
  });
});

describe("what changed in files", () => {
  const changes = async (
    ...steps: { actions: Record<string, unknown>[]; results: Record<string, unknown>[] }[]
  ) => {
    const seen = await shown([start("Go."), ...steps.flatMap((step, at) => stepEvents(at + 1, step))]);
    return seen.steps.flatMap((step) => step.changes);
  };

  it("is a unified diff with what is around, where the episode has told the whole file", async () => {
    const [first, second] = await changes(
      { actions: [write("one\ntwo\nthree\n")], results: [wrote] },
      { actions: [edit], results: [edited] },
    );
    expect(first).toMatchObject({ action: "1.0", path: file, kind: "written" });
    expect(second?.kind).toBe("edited");
    expect(second?.patch).toBe(`--- ${file}\n+++ ${file}\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n`);
  });

  it("is the piece alone, at its line, where a command may have changed the file since", async () => {
    const found = await changes(
      { actions: [write("one\ntwo\n")], results: [wrote] },
      {
        actions: [{ type: "shell", command: "sed -i ..." }],
        results: [{ type: "shell", text: "", truncated: false }],
      },
      { actions: [edit], results: [edited] },
    );
    expect(found[1]).toMatchObject({ action: "3.0", kind: "piece" });
    expect(found[1]?.patch).toContain("@@ -12,1 +12,1 @@\n-two\n");
  });

  it("is nothing where the action failed, and has no diff where the content is no text", async () => {
    const failed = {
      type: "edit_file",
      text: "Error: no",
      truncated: false,
      error: { code: "no_match", message: "no" },
    };
    expect(await changes({ actions: [edit], results: [failed] })).toEqual([]);
    const bytes = write("//79/A==", { encoding: "base64" });
    expect(await changes({ actions: [bytes], results: [wrote] })).toMatchObject([
      { kind: "written", patch: null },
    ]);
  });

  it("is known from what was read, and from what was appended to a known file", async () => {
    const read = { type: "read_file", text: "one\n", truncated: false, bytes: 4, escaped: false };
    const [appended] = await changes(
      { actions: [{ type: "read_file", path: file }], results: [read] },
      { actions: [write("two\n", { append: true })], results: [wrote] },
    );
    expect(appended).toMatchObject({ kind: "edited" });
    expect(appended?.patch).toContain(" one\n+two\n");
    expect(await changes({ actions: [write("two\n", { append: true })], results: [wrote] })).toMatchObject([
      { kind: "appended" },
    ]);
  });
});

describe("an episode in a terminal", () => {
  const evil = "\u001b]0;owned\u0007\u001b[2J\r\u009b31m\u202eabc\u0000";
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the point is to find them
  const dangerous = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

  it("never obeys what a guest or a model wrote, wherever that stands", async () => {
    const results = [{ type: "shell", text: `one\n${evil}`, truncated: false, [evil]: evil }];
    const seen = await shown(
      [
        start(evil),
        ...stepEvents(1, {
          actions: [{ type: `shell${evil}`, command: evil, [evil]: evil }, write(evil)],
          results: [...results, { ...wrote, path: evil }],
          milestones: [{ check: evil, reward: 1 }],
          decision: { model: evil, output: evil, usage: { [evil]: 1 } },
        }),
        { channel: "marker", step: 1, payload: { kind: evil, message: evil } },
        { channel: "infra", step: 1, payload: { code: evil, message: evil } },
        { channel: "permission", step: 1, payload: { asked: evil, granted: true, by: evil } },
        verdictEvent(1, { status: "ungraded", score: null, passed: null, reason: evil }),
      ],
      { labels: { [evil]: evil }, params: { [evil]: evil }, task_version: evil },
    );
    expect(renderEpisode(seen, { colour: false })).not.toMatch(dangerous);
    expect(renderEpisode(seen, { colour: false, step: 1 })).not.toMatch(dangerous);
    expect(printableJson(seen)).not.toMatch(dangerous);
    expect(JSON.parse(printableJson(seen))).toEqual(JSON.parse(JSON.stringify(seen)));
  });

  it("prints any text without anything that a terminal acts on", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(printable(text)).not.toMatch(dangerous);
        expect(printable(text)).not.toMatch(/[\n\t]/);
        expect(printableLines(text)).not.toMatch(dangerous);
        expect(JSON.parse(printableJson(text))).toBe(text);
      }),
    );
    expect(printable("Grüße, 日本 😀")).toBe("Grüße, 日本 😀");
  });

  it("has the checks of the verdict in a table, and colours only if asked", async () => {
    const into = recorder();
    const { file: bundle } = await writeExample(into, letters);
    const seen = await showEpisode(join(into.folder, bundle));
    const text = renderEpisode(seen, { colour: false });
    expect(text).toMatch(
      /check +status +score +weight +evidence\n[- ]+\n +file +passed +1\.00 +1 +as expected/,
    );
    expect(text).toContain("+Dear Ada,");
    expect(renderEpisode(seen, { colour: true })).toContain("\u001b[32m+Dear Ada,\u001b[0m");
  });

  it("cuts long observations in the overview, and none of a single step", async () => {
    const lines = Array.from({ length: 100 }, (_, at) => `line ${at}`).join("\n");
    const results = [{ type: "shell", text: lines, truncated: false }];
    const seen = await shown([
      start("Go."),
      ...stepEvents(1, { actions: [{ type: "shell", command: "seq" }], results }),
    ]);
    expect(renderEpisode(seen, { colour: false })).toContain("[... 88 lines ...]");
    expect(renderEpisode(seen, { colour: false, step: 1 })).toContain("line 50");
  });
});

describe("a list of episodes", () => {
  it("has the finished ones from the index, and what is not finished, gone or broken", async () => {
    const into = recorder();
    const parent = await writeExample(into, letters);
    await writeExample(into, lettersBranch(parent));
    const gone = await writeExample(into, died);
    rmSync(join(into.folder, gone.file));
    const cut = join(into.folder, "letters", "cut.skn");
    writeFileSync(cut, readFileSync(join(into.folder, parent.file)).subarray(0, -100));
    writeFileSync(join(into.folder, "letters", "broken.skn"), "no bundle");
    const listed = await listEpisodes(into.folder);
    const of = (name: string) => listed.find(({ file: path }) => path.endsWith(name));
    expect(listed).toHaveLength(5);
    expect(of(parent.file)).toMatchObject({ state: "finished", score: 0.75, steps: 3, task: "letters" });
    expect(listed.find(({ parent: from }) => from !== null)).toMatchObject({ parent: { step: 1 }, score: 1 });
    expect(of(gone.file)).toMatchObject({ state: "gone", status: "ungraded", score: null });
    expect(of("cut.skn")).toMatchObject({ state: "unfinished", episode: parent.episode, score: null });
    expect(of("broken.skn")).toMatchObject({ state: "unfinished", episode: null });
    expect(of("broken.skn")?.fault).toContain("broken.skn");
  });

  it("leaves out lines of the index that were cut, and refuses a folder that is not there", async () => {
    const into = recorder();
    await writeExample(into, letters);
    appendFileSync(join(into.folder, "index.jsonl"), '{"file":"x');
    expect(await listEpisodes(into.folder)).toHaveLength(1);
    await expect(listEpisodes(join(into.folder, "none"))).rejects.toMatchObject({ code: "bad_request" });
  });
});
