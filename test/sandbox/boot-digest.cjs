// Boots a machine in a process of its own and prints its digest at checkpoints, one JSON line.
//   node boot-digest.cjs CONFIG CHECKPOINTS whole|pieces
// `whole` runs from checkpoint to checkpoint in one go; `pieces` cuts the way there at odd places, goes through
// stretches instruction by instruction, and at every checkpoint goes on in a fork of what it froze there.
const { join } = require("node:path");
const addon = require("node-gyp-build")(join(__dirname, "../.."));

const [config, checkpoints, manner] = process.argv.slice(2);
const SINGLE_STEPS = 1500;

/** Numbers in [0, 1), the same in every run. */
function numbers(state) {
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
const next = numbers(4711);

/** Runs to an instruction count exactly; false if the guest ended or waits for the outside before. */
async function runTo(machine, goal) {
  const single = manner === "pieces" ? goal - Math.floor(next() * 1e6) - SINGLE_STEPS : goal;
  for (;;) {
    const at = machine.stats().instructions;
    if (at >= goal) return true;
    let maxInstructions = goal - at;
    if (manner === "pieces") {
      const odd = 1 + Math.floor(next() * 20e6);
      const stepping = at >= single && at < single + SINGLE_STEPS;
      maxInstructions = stepping ? 1 : Math.min(at < single ? single - at : goal - at, odd);
    }
    const { reason } = await machine.run({ maxInstructions });
    if (reason !== "instruction_limit") return false;
  }
}

async function main() {
  const options = JSON.parse(config);
  options.rngSeed = Buffer.from(options.rngSeed, "hex");
  let machine = await addon.bootMachine(options);
  const points = [];
  for (const goal of JSON.parse(checkpoints)) {
    const reached = await runTo(machine, goal);
    points.push({ instructions: machine.stats().instructions, digest: await machine.digest() });
    if (!reached) break;
    if (manner !== "pieces") continue;
    const golden = await machine.freeze();
    await machine.close();
    machine = golden.fork({ kind: "grade" });
    golden.close();
  }
  await machine.close();
  console.log(JSON.stringify(points));
}

main();
