import type { Command } from "commander";
import { imageNames, listImages } from "../../images/cache/images.js";
import { printJson } from "../json.js";

export function define(command: Command): void {
  command
    .option("--json", "print one JSON object")
    .addHelpText("after", "\nExample:\n  shinken image list --json")
    .action(list);
}

function list(options: { json?: boolean }): void {
  const named = new Map(imageNames().map(({ name, digest }) => [digest, name]));
  const images = listImages().map((image) => ({ ...image, current: named.has(image.digest) }));
  if (options.json === true) {
    printJson({ images });
    return;
  }
  if (images.length === 0) process.stdout.write("no image yet; build one: shinken image build shell\n");
  for (const { name, digest, sizeBytes, releaseDate, current } of images) {
    const date = new Date(releaseDate * 1000).toISOString().slice(0, 10);
    const size = `${Math.round(sizeBytes / 1024 ** 2)} MiB`;
    process.stdout.write(
      `${name.padEnd(12)} ${digest.slice(0, 16)} ${size.padStart(9)}  ${date}${current ? "" : "  (superseded)"}\n`,
    );
  }
}
