/**
 * Plays echo sessions into a folder until it is killed: `node player.mjs FOLDER SESSIONS`. Says `FILE STEP` of each step that was
 * answered, before it asks for the next; 0 is the reset.
 */
import { writeSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const dist = fileURLToPath(new URL("../../../dist/", import.meta.url));
const load = (path) => import(pathToFileURL(join(dist, path)).href);
const [{ EchoEnvironment }, { Recorder }, { RecordedEnvironment }, { noFacts }] = await Promise.all(
  ["env/echo.js", "replay/write/recorder.js", "replay/record/environment.js", "replay/record/facts.js"].map(
    load,
  ),
);

const [folder = "", sessions = "1"] = process.argv.slice(2);
const recorder = new Recorder({ folder, runtime: "player" });
const play = async (number) => {
  const environment = new RecordedEnvironment(new EchoEnvironment(), recorder, {}, noFacts);
  for (;;) {
    await environment.reset();
    const { file } = environment.bundle;
    writeSync(1, `${file} 0\n`);
    const steps = 1 + ((number * 7) % 40);
    for (let step = 1; step <= steps; step += 1) {
      const text = `${"a line that stays\n".repeat(20)}step ${step}`;
      await environment.step([{ type: "echo", text: step % 9 === 0 ? text.repeat(60) : text }]);
      writeSync(1, `${file} ${step}\n`);
    }
  }
};
await Promise.all(Array.from({ length: Number(sessions) }, (_, number) => play(number)));
