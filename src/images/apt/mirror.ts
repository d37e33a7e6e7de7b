import { readFile } from "node:fs/promises";
import { ShinkenError } from "../../errors/index.js";
import { run } from "../process.js";
import { component } from "../recipe.js";

/** Where other distributions' apt keeps what it knows of Debian's mirrors (package python-apt-common). */
const templateFile = "/usr/share/python-apt/templates/Debian.info";

/** Where packages come from, and who said so. */
export interface Mirror {
  url: string;
  from: "option" | "environment" | "host" | "template";
}

/**
 * Picks the mirror: what the caller says, the environment, the host's own Debian mirror, the one that the host's apt
 * knows for Debian.
 * @throws ShinkenError `host_unsupported` if none of them says one.
 */
export async function chooseMirror(option: string | undefined): Promise<Mirror> {
  if (option !== undefined && option !== "") return { url: option, from: "option" };
  const environment = process.env["SHINKEN_DEBIAN_MIRROR"];
  if (environment !== undefined && environment !== "") return { url: environment, from: "environment" };
  const host = await hostMirror();
  if (host !== undefined) return { url: host, from: "host" };
  const template = pickTemplateMirror(await readFile(templateFile, "utf8").catch(() => ""));
  if (template !== undefined) return { url: template, from: "template" };
  throw new ShinkenError("host_unsupported", "this host does not say where Debian's packages are", {
    suggestion:
      "set SHINKEN_DEBIAN_MIRROR to the URL of a Debian mirror, or apt-get install python-apt-common",
  });
}

/** The address of the first suite of a python-apt distribution template; exported for tests. */
export function pickTemplateMirror(template: string): string | undefined {
  return /^Suite:[^]*?^BaseURI:\s*(https?:\/\/\S+?)\/?$/m.exec(template)?.[1];
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
