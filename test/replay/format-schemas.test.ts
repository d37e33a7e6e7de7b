import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { loadTasks, TaskEnvironmentFactory } from "../../src/env/index.js";
import { oracleSteps } from "../../src/operator/index.js";
import {
  allSchemas,
  bundleFiles,
  channelNames,
  noFacts,
  RecordedFactory,
  readEvents,
} from "../../src/replay/index.js";
import { bundleFile, bundleNames } from "../conformance/skn/files.js";
import { machinesUnavailable, providerForFile } from "../support/machine.js";
import { recorder } from "./support/recording.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const parsed = (path: string): unknown => JSON.parse(readFileSync(join(root, path), "utf8"));
const schemas = allSchemas();
const unavailable = await machinesUnavailable();
const provider = providerForFile();

/** The documented schemas, by another implementation's validator. */
const validators = new Map<string, ValidateFunction>(
  channelNames.map((name) => [
    name,
    new Ajv2020({ strict: false }).compile(parsed(`docs/skn/schemas/${name}.json`) as object),
  ]),
);

/** Says what breaks its schema; and which channels there were. */
async function check(file: string): Promise<{ wrong: string[]; channels: Set<string> }> {
  const wrong: string[] = [];
  const channels = new Set<string>();
  for await (const event of readEvents(file)) {
    const { channel, seq } = event;
    const validate = validators.get(channel);
    if (validate === undefined) continue;
    channels.add(channel);
    if (!validate(event)) wrong.push(`${file} ${channel} ${seq}: ${JSON.stringify(validate.errors)}`);
  }
  return { wrong, channels };
}

describe("the schemas of the channels", () => {
  it("are documented as they are (make schemas)", () => {
    const files = readdirSync(join(root, "docs/skn/schemas"));
    expect(files.sort()).toEqual(channelNames.map((name) => `${name}.json`).sort());
    for (const name of channelNames) expect(parsed(`docs/skn/schemas/${name}.json`)).toEqual(schemas[name]);
  });

  it("are what the Python reader has (make schemas)", () => {
    expect(parsed("bindings/python/shinken_gym/_skn/schemas.json")).toEqual(schemas);
  });

  it("hold for every event of the conformance folder", async () => {
    const seen = new Set<string>();
    for (const name of bundleNames().filter((one) => one !== "empty" && one !== "version-0")) {
      const { wrong, channels } = await check(bundleFile(name));
      expect(wrong).toEqual([]);
      for (const channel of channels) seen.add(channel);
    }
    expect([...seen].sort()).toEqual([...channelNames].sort());
  });

  it("refuse what is not so", () => {
    const marker = { seq: 0, step: 0, t_guest: null, t_wall: 1, kind: "ended" };
    const validate = validators.get("marker");
    expect(validate?.(marker)).toBe(true);
    for (const wrong of [{ seq: -1 }, { step: "1" }, { t_wall: 0.5 }, { kind: null }])
      expect(validate?.({ ...marker, ...wrong })).toBe(false);
  });
});

describe.skipIf(unavailable !== null)("the demo's episodes as they are recorded", () => {
  it("hold to the documented schemas", async () => {
    const { tasks } = await loadTasks(join(root, "tasks/demo"));
    const played = [...tasks].filter(({ id }) => ["clean-cache", "csv-to-json"].includes(id));
    expect(played.length).toBe(2);
    const into = recorder();
    const factory = new TaskEnvironmentFactory({ provider: provider(), tasks: played });
    const recorded = new RecordedFactory(factory, into, noFacts);
    for (const task of played) {
      const session = await recorded.create(task.id, { labels: { operator: "oracle" } });
      await session.reset({ seed: 7 });
      for (const actions of oracleSteps(task.variant({ seed: 7 }))) await session.step(actions);
      await session.evaluate();
      await session.close();
    }
    await into.close();
    const files = await bundleFiles([into.folder]);
    expect(files.length).toBe(2);
    for (const file of files) {
      const { wrong, channels } = await check(file);
      expect(wrong).toEqual([]);
      for (const channel of ["session", "action", "observation", "snapshot", "verdict"])
        expect(channels).toContain(channel);
    }
  });
});
