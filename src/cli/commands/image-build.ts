import type { Command } from "commander";
import { buildWithProgress } from "../image-stage.js";
import { printJson } from "../json.js";

interface BuildCommandOptions {
  locked?: string;
  mirror?: string;
  refresh?: boolean;
  guestPython?: boolean;
  json?: boolean;
}

export function define(command: Command): void {
  command
    .argument("[name]", "image to build", "shell")
    .option("--locked <manifest>", "rebuild exactly the packages of a former image's manifest.json")
    .option("--mirror <url>", "Debian mirror (or set SHINKEN_DEBIAN_MIRROR)")
    .option("--refresh", "ask the mirror for current packages even if the image is there")
    .option("--guest-python", "byte-compile Python in the guest even where the host could (slower)")
    .option("--json", "print the image as one JSON object")
    .addHelpText(
      "after",
      "\nAn image that is in the cache is taken as it is, without the network.\n\nExample:\n  shinken image build shell\n\nExit codes: 0 built or cached, 2 usage, 3 the build failed; nothing half-built is kept.",
    )
    .action(build);
}

async function build(name: string, options: BuildCommandOptions): Promise<void> {
  const { json, ...rest } = options;
  const image = await buildWithProgress(name, rest);
  const line = `${image.name} ${image.digest.slice(0, 16)} ${Math.round(image.sizeBytes / 1024 ** 2)} MiB\n`;
  if (json === true) printJson(image);
  else process.stdout.write(line);
}
