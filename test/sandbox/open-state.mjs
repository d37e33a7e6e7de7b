// Opens a machine's state in a file on the image's golden, runs a script in it and prints its output and the digests before and
// after. Uses the compiled package, as another program would.
import { MicrovmProvider } from "../../dist/sandbox/microvm/provider.js";

const [path, script] = process.argv.slice(2);
const provider = new MicrovmProvider();
const golden = await provider.imageGolden("shell");
const machine = await golden.openState(path);
const opened = await machine.digest();
const { stdout } = await machine.exec({ argv: ["sh", "-c", script], user: "agent" });
const digest = await machine.digest();
console.log(JSON.stringify({ opened, output: Buffer.from(stdout).toString().trim(), digest }));
golden.close();
await provider.close();
