/** The modules that ship with the house: folders of `modules/` beside the sources, each read once. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { ShinkenError } from "../../../errors/index.js";
import { parseOrThrow } from "../../../errors/parse.js";
import { nearest } from "../../../errors/nearest.js";
import { sha256 } from "../../canonical.js";
import { type ModuleManifest, moduleManifest } from "./manifest.js";

export interface Module {
  manifest: ModuleManifest;
  /** Text of its program. */
  program: string;
  /** SHA-256 of manifest and program: a part of the version of every verifier that asks it. */
  digest: string;
}

/** Folder of the modules. Sources and built files lie equally deep. */
export const modulesFolder = fileURLToPath(new URL("../../../../modules/", import.meta.url));

const known = new Map<string, Module>();

/** Names of all modules. */
export function moduleNames(folder: string = modulesFolder): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

/** Reads a module's folder. Throws `bad_task` with the path of the first fault. */
export function readModuleFolder(folder: string): Module {
  const text = readFileSync(`${folder}/module.yaml`, "utf8");
  const manifest = parseOrThrow(moduleManifest, parse(text), "bad_task", ["module.yaml"]);
  const program = readFileSync(`${folder}/${manifest.program}`, "utf8");
  return { manifest, program, digest: sha256(`${text}\0${program}`) };
}

/** The module of a name, or undefined. */
export function moduleOf(name: string): Module | undefined {
  const read = known.get(name);
  if (read !== undefined) return read;
  if (!moduleNames().includes(name)) return undefined;
  const made = readModuleFolder(`${modulesFolder}${name}`);
  known.set(name, made);
  return made;
}

/** The module of a name. Throws `bad_task` with the nearest name. */
export function moduleNamed(name: string): Module {
  const found = moduleOf(name);
  if (found !== undefined) return found;
  const meant = nearest(name, moduleNames());
  throw new ShinkenError("bad_task", `there is no module "${name}"`, {
    suggestion: meant === undefined ? `there are ${moduleNames().join(", ")}` : `did you mean "${meant}"?`,
  });
}
