// The same state digest whatever runs it: Debian at work (Python, git, SQLite, gzip, in a loop) on both memories,
// interpreted and translated, whole, cut into pieces and single-stepped, each manner in a process of its own.
//   node scripts/proof-digest.mjs GOLDEN-DIGEST     the executable; or: make -C native proof-digest
// SHINKEN_PROOF_INSTRUCTIONS (10e9) and SHINKEN_PROOF_STEPS (1e9, what is single-stepped) shorten it. Prints each
// manner's digests and, at the end, how many agree; exit 1 if any differ.
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openImage } from "../dist/images/index.js";
import { disksOf } from "../dist/sandbox/microvm/boot.js";
import { MicrovmProvider } from "../dist/sandbox/microvm/provider.js";

const IMAGE = "shell";
const STRIDE = 1e9;
const [executable] = process.argv.slice(2);
if (executable === undefined) {
  console.error("usage: node scripts/proof-digest.mjs GOLDEN-DIGEST");
  process.exit(64);
}
const instructions = Number(process.env.SHINKEN_PROOF_INSTRUCTIONS ?? 10e9);
const steps = Number(process.env.SHINKEN_PROOF_STEPS ?? 1e9);

/** Starts processes, writes, compresses, asks a database, and never ends. */
const WORKLOAD = `
cd "$(mktemp -d)" || exit 1
git init -q repository
n=0
while :; do
  n=$((n + 1))
  python3 -c "import json, math; print(json.dumps([math.sqrt(i * $n) for i in range(2000)]))" > numbers
  gzip -9 < numbers > numbers.gz
  gzip -d < numbers.gz | cmp - numbers || exit 1
  cp numbers repository/numbers.$((n % 5))
  git -C repository add . && git -C repository -c user.name=a -c user.email=a@b commit -qm "round $n"
  git -C repository status --short
  sqlite3 rows.db "create table if not exists t(a, b); insert into t select value, $n from json_each('$(cat numbers)'); select sum(a) from t where b > $n - 3;" > sum
done
`;

/** A golden of the image at work, in a file. */
async function prepare(path) {
  const provider = new MicrovmProvider();
  const golden = await provider.imageGolden(IMAGE);
  const machine = await golden.fork({ seed: new Uint8Array(32).fill(0x5a) });
  try {
    await machine.writeFile("/tmp/work.sh", new TextEncoder().encode(WORKLOAD));
    const started = await machine.exec({
      argv: ["sh", "-c", "setsid sh /tmp/work.sh </dev/null >/tmp/work.log 2>&1 &"],
    });
    if (started.exitCode !== 0) throw new Error("the workload did not start");
    const frozen = await machine.native.freeze();
    await frozen.save({ path });
    frozen.close();
  } finally {
    await machine.close();
    golden.close();
    await provider.close();
  }
}

/** Points up to `last`: some early ones, then every thousand million. */
function pointsTo(last) {
  const points = [1e7, 1e8, STRIDE / 2].filter((point) => point < last);
  for (let point = STRIDE; point < last; point += STRIDE) points.push(point);
  return [...points, last];
}

/** The digests of one manner by instruction count. */
function digests(name, golden, disks, { translation, memory, manner, last }) {
  const points = pointsTo(last);
  const args = [golden, "--memory", memory, "--manner", manner, "--points", points.join(",")];
  for (const { path, identity } of disks) args.push("--disk", `${path}=${identity}`);
  return new Promise((resolve, reject) => {
    const child = spawn(executable, args, {
      env: { ...process.env, SHINKEN_TRANSLATION: translation },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code !== 0) return reject(new Error(`${name} ended with ${code}`));
      const lines = output.trim().split("\n").map((line) => line.split(" "));
      console.log(`${name}: ${lines.at(-1)[0]} instructions, ${lines.at(-1)[1]}, ${lines.at(-1)[2]} s`);
      resolve(new Map(lines.map(([at, digest]) => [at, digest])));
    });
  });
}

const whole = { manner: "whole", last: instructions };
const MANNERS = {
  "soft, hot code translated": { ...whole, translation: "hot", memory: "soft" },
  "uffd, hot code translated": { ...whole, translation: "hot", memory: "uffd" },
  "soft, interpreted": { ...whole, translation: "never", memory: "soft" },
  "uffd, interpreted": { ...whole, translation: "never", memory: "uffd" },
  "soft, all translated": { ...whole, translation: "all", memory: "soft" },
  "soft, in pieces and forks": { ...whole, translation: "hot", memory: "soft", manner: "pieces" },
  "uffd, in pieces and forks": { ...whole, translation: "all", memory: "uffd", manner: "pieces" },
  "soft, single steps": { manner: "steps", last: steps, translation: "never", memory: "soft" },
};

const folder = await mkdtemp(join(tmpdir(), "shinken-proof-"));
let differences = 0;
let compared = 0;
try {
  const golden = join(folder, "work.golden");
  await prepare(golden);
  const disks = disksOf(openImage(IMAGE));
  let expected;
  for (const [name, manner] of Object.entries(MANNERS)) {
    const actual = await digests(name, golden, disks, manner);
    if (expected === undefined) {
      expected = actual;
      for (const [at, digest] of expected) console.log(`  ${at} ${digest}`);
      continue;
    }
    for (const [at, digest] of actual) {
      if (!expected.has(at)) continue;
      compared += 1;
      if (expected.get(at) === digest) continue;
      differences += 1;
      console.log(`  ${name} differs after ${at}: ${digest}`);
    }
  }
  if (new Set(expected.values()).size !== expected.size) throw new Error("the guest stood still");
} finally {
  await rm(folder, { recursive: true, force: true });
}
console.log(`proof-digest: ${compared - differences} of ${compared} digests agree`);
process.exit(differences === 0 && compared > 0 ? 0 : 1);
