// Runs every suite, shows its output as it comes, and ends with one line of totals.
//   node scripts/test.mjs [SUITE...]     suites: native, sanitize, fuzz, typescript, python
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const reports = join(root, "build", "reports");
mkdirSync(reports, { recursive: true });

/** What failed, said once more at the end, where somebody who sees only the last lines finds it. */
const failures = [];

/** Runs a command in the repository root; resolves with its exit code and everything that it printed. */
function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ["ignore", "pipe", "pipe"], ...options });
    let output = "";
    const keep = (stream) => (chunk) => {
      output += chunk;
      stream.write(chunk);
    };
    child.stdout.on("data", keep(process.stdout));
    child.stderr.on("data", keep(process.stderr));
    child.on("error", (error) => resolve({ code: 127, output: `${output}\n${error.message}` }));
    child.on("close", (code, signal) => resolve({ code: code ?? (signal ? 128 : 1), output }));
  });
}

/** Sums the counts that `pattern` finds; a suite that failed without saying so counts as one failure. */
function total(result, pattern) {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const match of result.output.matchAll(pattern)) {
    sum.passed += Number(match.groups.passed ?? 0);
    sum.failed += Number(match.groups.failed ?? 0);
    sum.skipped += Number(match.groups.skipped ?? 0);
  }
  if (result.code !== 0 && sum.failed === 0) sum.failed = 1;
  if (result.code === 0 && sum.passed + sum.skipped === 0) sum.failed += 1;
  return sum;
}

async function native() {
  return total(
    await run("make", ["--no-print-directory", "-C", "native", "test"]),
    /^native: (?<passed>\d+) passed, (?<failed>\d+) failed$/gm,
  );
}

/** The monitor's tests once more under sanitizers, which end a test at its first finding; each run counts. */
async function sanitize() {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  for (const sanitizers of ["address,undefined", "thread"]) {
    console.log(`-- sanitizers: ${sanitizers}`);
    const counts = total(
      await run("make", ["--no-print-directory", "-C", "native", "test", `SANITIZE=${sanitizers}`]),
      /^native: (?<passed>\d+) passed, (?<failed>\d+) failed$/gm,
    );
    for (const key of Object.keys(sum)) sum[key] += counts[key];
  }
  return sum;
}

/** What one target gets here, where somebody waits; .ci/run sets 30. */
const fuzzSeconds = process.env.SHINKEN_FUZZ_SECONDS ?? "5";

/** Every fuzz target from its committed seeds; `make -C native fuzz RUNS=1000000` is the nightly way. */
async function fuzz() {
  const clang = await new Promise((resolve) => {
    const probe = spawn("clang++-19", ["--version"], { stdio: "ignore" });
    probe.on("error", () => resolve(false));
    probe.on("close", (code) => resolve(code === 0));
  });
  if (!clang) {
    console.log("fuzz targets skipped: clang++-19 is missing (scripts/setup.sh test)");
    return { passed: 0, failed: 0, skipped: 1 };
  }
  const pattern = /^ {2}(?:(?<passed>ok)|(?<failed>FAIL)) +\S+ \(/gm;
  const sum = { passed: 0, failed: 0, skipped: 0 };
  const result = await run("make", ["--no-print-directory", "-C", "native", "fuzz", `SECONDS=${fuzzSeconds}`]);
  for (const { groups } of result.output.matchAll(pattern)) sum[groups.passed ? "passed" : "failed"] += 1;
  if (result.code !== 0 && sum.failed === 0) sum.failed = 1;
  if (result.code === 0 && sum.passed === 0) sum.failed = 1;
  return sum;
}

async function typescript() {
  const report = join(reports, "vitest.json");
  rmSync(report, { force: true });
  const result = await run("node_modules/.bin/vitest", [
    "run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`,
  ]);
  if (!existsSync(report)) return { passed: 0, failed: 1, skipped: 0 };
  const json = JSON.parse(readFileSync(report, "utf8"));
  const sum = {
    passed: json.numPassedTests,
    failed: json.numFailedTests,
    skipped: json.numPendingTests + (json.numTodoTests ?? 0),
  };
  for (const file of json.testResults) {
    const path = file.name.replace(`${root}/`, "");
    for (const test of file.assertionResults.filter((one) => one.status === "failed"))
      failures.push(`${path}: ${test.fullName}\n${(test.failureMessages[0] ?? "").split("\n").slice(0, 12).join("\n")}`);
    if (file.assertionResults.length === 0 && file.message) failures.push(`${path}: ${file.message}`);
  }
  // A file that could not be loaded fails the run without a failed test.
  if (result.code !== 0 && sum.failed === 0) sum.failed = 1;
  return sum;
}

async function python() {
  const result = await run("scripts/test-python.sh", []);
  const sum = { passed: 0, failed: 0, skipped: 0 };
  const line = result.output.trimEnd().split("\n").findLast((text) => /\d+ (passed|failed|error|skipped)/.test(text)) ?? "";
  for (const match of line.matchAll(/(\d+) (passed|failed|errors?|skipped)/g)) {
    sum[match[2].startsWith("error") ? "failed" : match[2]] += Number(match[1]);
  }
  if (result.code !== 0 && sum.failed === 0) sum.failed = 1;
  if (sum.passed + sum.failed + sum.skipped === 0) sum.failed = 1;
  return sum;
}

const suites = { native, sanitize, fuzz, typescript, python };
const wanted = process.argv.slice(2);
const unknown = wanted.find((name) => !Object.hasOwn(suites, name));
if (unknown !== undefined) {
  console.error(`there is no suite ${unknown}; suites are ${Object.keys(suites).join(", ")}`);
  process.exit(2);
}
const sum = { passed: 0, failed: 0, skipped: 0 };
const rows = [];
for (const [name, suite] of Object.entries(suites)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  console.log(`\n== test: ${name}`);
  const started = Date.now();
  const counts = await suite();
  for (const key of Object.keys(sum)) sum[key] += counts[key];
  rows.push({ name, ...counts, seconds: Math.round((Date.now() - started) / 1000) });
}
console.log();
for (const failure of failures) console.log(`FAILED ${failure.slice(0, 2000)}\n`);
for (const row of rows) {
  console.log(
    `${row.name.padEnd(12)} ${String(row.passed).padStart(5)} passed ${String(row.failed).padStart(4)} failed ` +
      `${String(row.skipped).padStart(4)} skipped ${String(row.seconds).padStart(5)} s`,
  );
}
if (sum.skipped > 0) console.log(`${sum.skipped} skipped`);
// Programs read this line: nothing else may stand on it, and nothing may follow.
console.log(`${sum.passed} passed, ${sum.failed} failed`);
process.exit(sum.failed === 0 ? 0 : 1);
