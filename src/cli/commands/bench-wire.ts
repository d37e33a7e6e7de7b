import type { Command } from "commander";
import { loadBenchmark } from "../benchmark.js";
import { integer, seconds, share } from "../options.js";
import { launcher } from "../root.js";

interface WireOptions {
  sessions?: number[];
  seconds: number;
  effort: number;
  image: string;
  json?: boolean;
}

interface RecordingCost {
  sessions: number;
  plain_steps_per_s: number;
  recorded_steps_per_s: number;
  share: number;
  share_low: number;
  share_high: number;
  plain_us_per_step: number | null;
  recorded_us_per_step: number | null;
}

interface Report {
  sessions: Record<string, { steps_per_s: number; p50_ms: number; p99_ms: number }>;
  recording: { echo: RecordingCost; machine: RecordingCost | null };
}

interface WireModule {
  benchmarkWire: (options: {
    launcher: string;
    sessions?: number[] | undefined;
    seconds: number;
    image: string;
    onProgress: (line: string) => void;
  }) => Promise<Report>;
}

export function define(command: Command): void {
  command
    .option("--sessions <n...>", "numbers of sessions", (text: string, before: number[] | undefined) => [
      ...(before ?? []),
      integer(1, 4096)(text),
    ])
    .option("--seconds <s>", "time for each number of sessions", seconds, 3)
    .option("--effort <x>", "share of that time", share, 1)
    .option("--image <name>", "image of the machines whose steps are recorded", "shell")
    .option("--json", "print one JSON object")
    .addHelpText(
      "after",
      "\nServer, load client and this command are three processes. Steps are also compared with and without recording, in turns.\n\nExample:\n  shinken bench wire --sessions 8 64 --json",
    )
    .action(benchWire);
}

async function benchWire(options: WireOptions): Promise<void> {
  const { benchmarkWire } = await loadBenchmark<WireModule>("wire");
  const result = await benchmarkWire({
    launcher: launcher(),
    sessions: options.sessions,
    seconds: options.seconds * options.effort,
    image: options.image,
    onProgress: (line) => process.stderr.write(`${line}\n`),
  });
  if (options.json === true) {
    process.stdout.write(`${JSON.stringify(result)}\n`);
    return;
  }
  process.stdout.write("sessions   steps/s   p50 ms   p99 ms\n");
  for (const [count, row] of Object.entries(result.sessions)) {
    const cells = [
      count.padStart(8),
      String(Math.round(row.steps_per_s)).padStart(9),
      row.p50_ms.toFixed(2).padStart(8),
      row.p99_ms.toFixed(2).padStart(8),
    ];
    process.stdout.write(`${cells.join(" ")}\n`);
  }
  const { echo, machine } = result.recording;
  process.stdout.write(recordingLine("echo", echo));
  if (machine !== null) process.stdout.write(recordingLine("machine", machine));
}

function recordingLine(name: string, cost: RecordingCost): string {
  const rates = `${Math.round(cost.plain_steps_per_s)} steps/s, recorded ${Math.round(cost.recorded_steps_per_s)}`;
  const processor = `processor ${cost.plain_us_per_step ?? "-"} us/step, recorded ${cost.recorded_us_per_step ?? "-"}`;
  return `${name}, ${cost.sessions} sessions: ${rates}: ${cost.share} (${cost.share_low} to ${cost.share_high}); ${processor}\n`;
}
