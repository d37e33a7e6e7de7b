import { readFile } from "node:fs/promises";
import { run } from "../process.js";
import { component, defaultMirror } from "../recipe.js";

/** Where packages come from, and who said so. */
export interface Mirror {
  url: string;
  from: "option" | "environment" | "host" | "default";
}

/** Picks the mirror: what the caller says, the environment, the host's own Debian mirror, Debian's public one. */
export async function chooseMirror(option: string | undefined): Promise<Mirror> {
  if (option !== undefined && option !== "") return { url: option, from: "option" };
  const environment = process.env["SHINKEN_DEBIAN_MIRROR"];
  if (environment !== undefined && environment !== "") return { url: environment, from: "environment" };
  const host = await hostMirror();
  return host === undefined ? { url: defaultMirror, from: "default" } : { url: host, from: "host" };
}

async function hostMirror(): Promise<string | undefined> {
  const release = await readFile("/etc/os-release", "utf8").catch(() => "");
  if (!/^ID="?debian"?$/m.test(release)) return undefined;
  const codename = /^VERSION_CODENAME="?([a-z]+)"?$/m.exec(release)?.[1];
  const format = "$(REPO_URI)|$(RELEASE)|$(COMPONENT)";
  const listed = await run("apt-get", ["indextargets", "--format", format, "Created-By: Packages"]);
  return listed.code === 0 ? pickMirror(listed.stdout, codename) : undefined;
}

/** The first repository that serves the host's own release and our component; exported for tests. */
export function pickMirror(targets: string, codename: string | undefined): string | undefined {
  for (const line of targets.split("\n")) {
    const [url = "", release = "", part = ""] = line.split("|");
    const servesRelease = release === codename || /^(oldold|old)?stable$|^testing$|^sid$/.test(release);
    if (servesRelease && part === component && !url.startsWith("cdrom:")) return url.replace(/\/$/, "");
  }
  return undefined;
}
