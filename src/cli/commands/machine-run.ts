import type { Command } from "commander";
import { runProgram } from "../../sandbox/microvm/program.js";
import { exitCodes } from "../exit-codes.js";
import { report } from "../failure.js";
import { integer, memory } from "../options.js";

interface MachineOptions {
  initrd?: string;
  append?: string;
  memory?: number;
  maxInstructions?: number;
}

export function define(command: Command): void {
  command
    .argument(
      "<file>",
      "ELF file, Linux Image, or flat binary (entered at 0x80200000 in S-mode, a0 = hart id, a1 = device tree)",
    )
    .option("--initrd <file>", "initial root of a Linux Image")
    .option("--append <arguments>", "boot arguments")
    .option("--memory <MiB>", "memory of the machine (default: 512)", memory)
    .option("--max-instructions <n>", "stop after so many instructions", integer(1))
    .addHelpText(
      "after",
      "\nThe SBI console is standard output.\n\nExample:\n  shinken machine run program.elf --max-instructions 1000000\n\nExit codes: 0 SBI reset without a reason, 1 system failure, 2 the instruction limit, 3 the machine cannot be made, 64 usage.",
    )
    .action(async (file: string, options: MachineOptions) => {
      try {
        process.exitCode = await run(file, options);
      } catch (error) {
        report(error, false);
        // Whatever the reason: 1 and 2 are what the program itself came to.
        process.exitCode = exitCodes.infrastructure;
      }
    });
}

async function run(file: string, options: MachineOptions): Promise<number> {
  const stop = new AbortController();
  process.once("SIGINT", () => {
    stop.abort();
  });
  const outcome = await runProgram(
    {
      program: file,
      initrd: options.initrd,
      append: options.append,
      memoryMiB: options.memory,
      maxInstructions: options.maxInstructions,
    },
    (bytes) => process.stdout.write(Buffer.from(bytes)),
    stop.signal,
  );
  if (outcome.detail !== "") process.stderr.write(`shinken: ${outcome.detail}\n`);
  return outcome.exitCode;
}
