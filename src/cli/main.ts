/** The command line. Only the command that runs is loaded, so that each starts as fast as its own code allows. */
import { Command, CommanderError } from "commander";
import { catalogue, type Entry, find, groups, usageOf, withUsual } from "./catalogue.js";
import { report, tell } from "./failure.js";
import { version } from "./version.js";

async function main(given: readonly string[]): Promise<void> {
  // Commander's own `help COMMAND` would know only the names of commands, since their code is not loaded.
  const words =
    given[0] === "help" && find(given.slice(1)) !== undefined
      ? [...given.slice(1), "--help"]
      : withUsual(given);
  const entry = find(words);
  const program = new Command("shinken")
    .description(
      "Real Linux machines, forked in about a millisecond, driven through reset, step and evaluate.",
    )
    .version(version())
    .showSuggestionAfterError()
    .enablePositionalOptions()
    .exitOverride();
  try {
    await (entry === undefined ? addAll(program) : addOne(program, entry));
    await program.parseAsync(words, { from: "user" });
  } catch (error) {
    process.exitCode = exitCodeOf(error, entry, words);
  }
}

function exitCodeOf(error: unknown, entry: Entry | undefined, words: readonly string[]): number {
  // What `run` is given belongs to the program that it runs.
  const json = entry?.path[0] !== "run" && words.includes("--json");
  if (!(error instanceof CommanderError)) return report(error, json);
  // Commander has printed its message already; asking for help is not an error.
  if (error.exitCode === 0) return 0;
  if (json) tell({ code: "bad_request", message: error.message.replace(/^error: /, ""), retry: false });
  return usageOf(entry);
}

async function addOne(program: Command, entry: Entry): Promise<void> {
  const [first, second] = entry.path;
  const parent = second === undefined ? program : program.command(first).exitOverride();
  const command = parent
    .command(second ?? first)
    .description(entry.summary)
    .exitOverride();
  const module = await entry.load();
  module.define(command);
}

/** For the help of the whole, and for complaints about a command that does not exist. */
function addAll(program: Command): Promise<void> {
  program.addHelpText(
    "after",
    "\nExamples:\n  shinken run -- uname -a\n  shinken serve --tasks tasks/demo\n\n'shinken COMMAND --help' says more.",
  );
  for (const entry of catalogue) {
    const [first, second] = entry.path;
    const parent = second === undefined ? program : group(program, first);
    parent
      .command(second ?? first)
      .description(entry.summary)
      .exitOverride();
  }
  return Promise.resolve();
}

function group(program: Command, name: string): Command {
  const known = program.commands.find((command) => command.name() === name);
  if (known !== undefined) return known;
  const { summary = "", example = "" } = groups[name] ?? {};
  return program
    .command(name)
    .description(summary)
    .addHelpText("after", `\nExample:\n  ${example}`)
    .exitOverride();
}

// A reader that closes our output early is no failure of ours.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

await main(process.argv.slice(2));
