import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ShinkenError } from "../../errors/index.js";
import { asset } from "../assets.js";
import { run } from "../process.js";
import { architecture as guestArchitecture, component, suite } from "../recipe.js";

/** Public keys that Debian signs the release with; exported from its own keyring package. */
export const keyFiles = ["debian-archive-trixie-automatic.gpg", "debian-archive-trixie-stable.gpg"] as const;

/** The keys as files, for gpgv. */
export function keyrings(): string[] {
  return keyFiles.map((name) => asset("keys", name));
}

/** A private apt: its own state, lists and sources; of the host it takes only how to reach the network. */
export interface PrivateApt {
  env: NodeJS.ProcessEnv;
  /** Keyrings that a release must be signed by one of. */
  keys: readonly string[];
  architecture: string;
  archives: string;
}

/**
 * Settings of the host's apt that say how to get through to a mirror (proxies, certificates, retries, tolerance of
 * an old mirror), as lines of `apt-config dump`. Everything else of the host stays out.
 */
export function transportSettings(dump: string): string[] {
  const wanted =
    /^Acquire::(http|https|ftp|tor|socks|mirror|Retries|ForceIPv4|ForceIPv6|Check-Date|Check-Valid-Until|Max-ValidTime|By-Hash|Queue-Mode|Send-URI-Encoded)\b/i;
  return dump.split("\n").filter((line) => wanted.test(line) && line.endsWith(";"));
}

/** A value in apt.conf(5): quoted, and it cannot hold a quote. */
function quoted(value: string): string {
  if (/["\n]/.test(value))
    throw new ShinkenError("bad_request", `a path or address may not hold a quote: ${value}`);
  return `"${value}"`;
}

/** Writes the configuration into `folder`; needs no rights beyond that folder's. */
export async function preparePrivateApt(
  folder: string,
  mirror: string,
  keys: readonly string[] = keyrings(),
  architecture = guestArchitecture,
): Promise<PrivateApt> {
  const at = (...path: string[]): string => join(folder, ...path);
  for (const path of ["lists/partial", "archives/partial", "etc/none", "etc/preferences.d", "log"]) {
    await mkdir(at(path), { recursive: true });
  }
  if (!/^[a-z0-9+.-]+:[^\s[\]]+$/i.test(mirror)) {
    throw new ShinkenError("bad_request", `not the address of a Debian mirror: ${mirror}`, {
      suggestion: "an address such as http://HOST/debian",
    });
  }
  const keyring = at("etc", "keys.gpg");
  await writeFile(keyring, Buffer.concat(await Promise.all(keys.map((file) => readFile(file)))));
  await writeFile(
    at("etc", "sources.list"),
    `deb [arch=${architecture} signed-by=${keyring}] ${mirror} ${suite} ${component}\n`,
  );
  await writeFile(at("etc", "status"), "");
  const dump = await run("apt-config", ["dump"]);
  const lines = [
    ...transportSettings(dump.stdout),
    `Dir ${quoted(folder)};`,
    `Dir::State ${quoted(folder)};`,
    `Dir::State::lists ${quoted(at("lists"))};`,
    `Dir::State::status ${quoted(at("etc", "status"))};`,
    `Dir::State::extended_states ${quoted(at("etc", "extended_states"))};`,
    `Dir::Cache ${quoted(folder)};`,
    `Dir::Cache::archives ${quoted(at("archives"))};`,
    `Dir::Etc ${quoted(at("etc"))};`,
    `Dir::Etc::sourcelist ${quoted(at("etc", "sources.list"))};`,
    `Dir::Etc::sourceparts ${quoted(at("etc", "none"))};`,
    `Dir::Etc::parts ${quoted(at("etc", "none"))};`,
    `Dir::Etc::trusted "/dev/null";`,
    `Dir::Etc::trustedparts ${quoted(at("etc", "none"))};`,
    // Passwords of mirrors are part of how to reach them.
    `Dir::Etc::netrc "/etc/apt/auth.conf";`,
    `Dir::Etc::netrcparts "/etc/apt/auth.conf.d";`,
    `Dir::Log ${quoted(at("log"))};`,
    `APT::Architecture ${quoted(architecture)};`,
    `APT::Architectures { ${quoted(architecture)}; };`,
    `APT::Install-Recommends "false";`,
    // As root, apt would fetch as another user, who cannot write to this folder.
    `APT::Sandbox::User "";`,
    `Acquire::Languages "none";`,
    `Acquire::GzipIndexes "false";`,
    `Acquire::AllowInsecureRepositories "false";`,
    `Acquire::AllowWeakRepositories "false";`,
  ];
  const file = at("etc", "apt.conf");
  await writeFile(file, lines.map((line) => `${line}\n`).join(""));
  const env = { ...process.env, APT_CONFIG: file, LC_ALL: "C", DEBIAN_FRONTEND: "noninteractive" };
  return { env, keys, architecture, archives: at("archives") };
}
