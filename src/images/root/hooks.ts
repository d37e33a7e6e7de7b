import { ShinkenError } from "../../errors/index.js";
import type { TarEntry } from "../deb/tar.js";
import type { ImageHook } from "../recipe.js";

/** Where the agent looks for hooks, in the read-only root. */
const folder = "usr/lib/shinken/uniqueness.d";
/** The agent's own bounds: an image beyond them would fail at its first boot. */
export const maxHooks = 8;
export const maxHookNameBytes = 47;

/** Refuses what the agent would refuse, before anything is downloaded. Throws `image_build_failed`. */
export function checkHooks(hooks: readonly ImageHook[]): void {
  const fault = (index: number, why: string): ShinkenError =>
    new ShinkenError("image_build_failed", `hook ${hooks[index]?.name ?? ""} of the recipe: ${why}`, {
      path: `hooks[${index}]`,
      suggestion: "see docs/uniqueness.md",
    });
  const names = new Set<string>();
  hooks.forEach(({ name, script }, index) => {
    if (index >= maxHooks) throw fault(index, `an image has at most ${maxHooks} hooks`);
    if (!/^[0-9A-Za-z][0-9A-Za-z._-]*$/.test(name) || name.length > maxHookNameBytes)
      throw fault(index, `a name has at most ${maxHookNameBytes} letters, digits, '.', '_' and '-'`);
    if (names.has(name)) throw fault(index, "there are two of that name");
    if (!script.startsWith("#!/")) throw fault(index, "a script begins with its interpreter's line, #!/...");
    names.add(name);
  });
}

/** The hooks as members of a package: root's, executable. */
export function hookEntries(hooks: readonly ImageHook[], mtime: number): TarEntry[] {
  return hooks.map(({ name, script }) => ({
    name: `./${folder}/${name}`,
    type: "file",
    mode: 0o755,
    uid: 0,
    gid: 0,
    mtime,
    link: "",
    major: 0,
    minor: 0,
    data: Buffer.from(script, "utf8"),
  }));
}
