/** Grading assets in a real machine whose agent is root and knows the task's public files, and what earlier gradings did. */
import { posix } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Golden, Sandbox } from "../../../src/sandbox/sandbox.js";
import { closePool } from "../../../src/verifiers/index.js";
import { machinesUnavailable, providerForFile, TEST_IMAGE } from "../../support/machine.js";
import { timeless } from "../support.js";
import { command, gradeOn, run } from "./support.js";

const unavailable = await machinesUnavailable();
const provider = providerForFile();
afterAll(() => closePool());

const COMPARE = `import json, sys
import wanted
print(json.dumps({"equal": open(sys.argv[1]).read() == open(sys.argv[2]).read(), "wanted": wanted.VALUE}))
`;
const assets = {
  "verify/compare.py": COMPARE,
  "verify/wanted.py": "VALUE = 7\n",
  "gold.json": '{"total": 42}\n',
};
/** Compares the agent's file with the gold one. */
const compare = command(
  "compare",
  [
    "/usr/bin/python3",
    { asset: "verify/compare.py" },
    "/home/agent/out.json",
    { asset: "gold.json" },
    { asset: "verify/wanted.py" },
  ],
  { equal: true, wanted: 7 },
);
/** Tells where the assets lie. */
const where = command(
  "where",
  ["/usr/bin/python3", "-c", "import json, sys; print(json.dumps(sys.argv[1]))", { asset: "gold.json" }],
  "nowhere",
);
const graph = { all: [compare, where] };

describe.skipIf(unavailable !== null)("grading assets in a machine whose agent is root", () => {
  let golden: Golden;
  let box: Sandbox;
  beforeAll(async () => {
    golden = await provider().imageGolden(TEST_IMAGE);
  });
  beforeEach(async () => {
    box = await golden.fork({ seed: new Uint8Array(32) });
    await box.writeFile("/home/agent/out.json", '{"total": 41}\n');
  });
  afterEach(() => box.close());
  afterAll(() => {
    golden.close();
  });

  it("decide what they are to decide, and may import each other", async () => {
    expect((await gradeOn(box, graph, assets)).checks[0]).toMatchObject({
      status: "failed",
      evidence: expect.stringContaining("false") as string,
    });
    await box.writeFile("/home/agent/out.json", assets["gold.json"]);
    expect((await gradeOn(box, graph, assets)).checks[0]?.status).toBe("passed");
  });

  it("lie in the same place for the same state, so that the verdict has the same bytes, and elsewhere for every other", async () => {
    const first = await gradeOn(box, graph, assets);
    expect(timeless(await gradeOn(box, graph, assets))).toEqual(timeless(first));
    await run(box, "true", "root");
    const later = await gradeOn(box, graph, assets);
    expect(placeIn(later)).not.toBe(placeIn(first));
  });

  it("cannot be waited for where they were the last time: by a link to the agent's file, or a module of their script's", async () => {
    const folder = posix.dirname(placeIn(await gradeOn(box, graph, assets)));
    const forged = `print('{"equal": true, "wanted": 7}', flush=True); import os; os._exit(0)`;
    await box.writeFile(`${folder}/verify/json.py`, forged, { user: "root" });
    await run(box, `ln -s /home/agent/out.json ${folder}/gold.json`, "root");
    expect((await gradeOn(box, graph, assets)).checks[0]?.status).toBe("failed");
  });

  it("are never in the machine itself, where one watches for them", async () => {
    const watcher = `while :; do for one in /run/shinken-grader/*; do [ -e "$one" ] && echo "$one" >> /root/seen; done
      ps -eo args= | grep -e compare.py -e gold.json | grep -v grep >> /root/looked; touch /root/awake; sleep 0.01; done`;
    await box.writeFile("/root/watch.sh", watcher, { user: "root" });
    await run(box, "setsid sh /root/watch.sh > /dev/null 2>&1 & sleep 0.1", "root");
    const before = await box.digest();
    await gradeOn(box, graph, assets);
    expect(await box.digest()).toBe(before);
    await run(box, "rm /root/awake", "root");
    await box.wait(500);
    expect(
      await run(
        box,
        "cd /root; ls awake; cat looked; ls seen /run/shinken-grader/* 2>/dev/null || echo nothing",
        "root",
      ),
    ).toBe("awake\nnothing\n");
  });
});

/** The path that the check `where` has seen. */
function placeIn({ checks }: { checks: { evidence: string }[] }): string {
  const path = /\/run\/shinken-grader\/[0-9a-f]{32}\/gold\.json/.exec(checks[1]?.evidence ?? "");
  if (path === null) throw new Error(`no path in: ${checks[1]?.evidence ?? ""}`);
  return path[0];
}
