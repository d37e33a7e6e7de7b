// Forks the image's golden from a seed, runs a script in it and prints its output and the machine's digest. Uses the compiled
// package, as another program would.
import { MicrovmProvider } from "../../dist/sandbox/microvm/provider.js";

const [seed, script] = process.argv.slice(2);
const provider = new MicrovmProvider();
const golden = await provider.imageGolden("shell");
const machine = await golden.fork({ seed: Buffer.from(seed, "hex") });
const { stdout } = await machine.exec({ argv: ["sh", "-c", script], user: "agent" });
const digest = await machine.digest();
console.log(JSON.stringify({ output: Buffer.from(stdout).toString().trim(), digest }));
golden.close();
await provider.close();
