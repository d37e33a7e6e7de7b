// Makes and closes a thousand machines, forks and goldens in a process of its own and prints what the process holds
// before and after.
const { readFileSync, readdirSync } = require("node:fs");
const { join } = require("node:path");
const addon = require("node-gyp-build")(join(__dirname, "../.."));
const program = process.argv[2];

function holdings() {
  globalThis.gc();
  const status = readFileSync("/proc/self/status", "utf8");
  const field = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)[1]);
  const { machines, goldens } = addon.engineStats();
  return {
    fds: readdirSync("/proc/self/fd").length,
    threads: field("Threads"),
    rssKiB: field("VmRSS"),
    mappings: readFileSync("/proc/self/maps", "utf8").split("\n").length,
    machines,
    goldens,
  };
}

async function round(golden) {
  const child = golden.fork({ generationId: require("node:crypto").randomBytes(16) });
  await child.run({ maxInstructions: 500 });
  await child.close();
}

async function main() {
  const machine = await addon.bootMachine({ program, memoryMiB: 64 });
  await machine.run({ maxInstructions: 1000 });
  const golden = await machine.freeze();
  for (let i = 0; i < 100; i++) await round(golden); // pools and arenas reach their size
  const before = holdings();
  for (let i = 0; i < 1000; i++) await round(golden);
  for (let i = 0; i < 50; i++) {
    const booted = await addon.bootMachine({ program, memoryMiB: 64 });
    (await booted.freeze()).close();
    await booted.close();
  }
  golden.close();
  await machine.close();
  await new Promise((resolve) => setTimeout(resolve, 50));
  console.log(JSON.stringify({ before, after: holdings() }));
}

main();
