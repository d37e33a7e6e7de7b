/** Names on the switch: every machine's `/etc/hosts` knows the services, which are found by their addresses of this fork. */
import { ShinkenError } from "../../errors/index.js";
import type { Sandbox } from "../../sandbox/sandbox.js";

const HOSTS = "/etc/hosts";
const HOSTS_LIMIT = 65_536;
/** Ends each line of ours, so that a fork of a fork replaces them. */
const MARK = "# service";

/** Writes the names of services into all machines. */
export async function tellNames(main: Sandbox, services: ReadonlyMap<string, Sandbox>): Promise<void> {
  const lines = [...services].map(([name, one]) => {
    const ip = one.address?.ip;
    if (ip === undefined)
      throw new ShinkenError("host_unsupported", `the service ${name} has no network card`);
    return `${ip} ${name} ${MARK}\n`;
  });
  for (const one of [main, ...services.values()]) {
    const present = new TextDecoder().decode(await one.readFile(HOSTS, { limit: HOSTS_LIMIT }));
    const kept = present.split("\n").filter((line) => line !== "" && !line.endsWith(MARK));
    const text = kept.map((line) => `${line}\n`).join("") + lines.join("");
    await one.writeFile(HOSTS, text, { user: "root", mode: 0o644 });
  }
}
