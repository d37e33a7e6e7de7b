import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const source = join(root, "src");

/** Which rooms a room may import. `docs/architecture.md` tells the reasons; change both together. */
const arrows: Record<string, readonly string[]> = {
  errors: [],
  images: ["errors"],
  sandbox: ["errors", "images"],
  verifiers: ["errors", "sandbox"],
  env: ["errors", "sandbox", "verifiers"],
  suites: ["errors", "env", "verifiers"],
  operator: ["errors", "env"],
  replay: ["errors", "env", "verifiers"],
  rollout: ["errors", "env", "operator", "replay", "sandbox", "verifiers"],
  smolcua: ["errors"],
  wire: ["errors"],
  client: ["errors", "env", "verifiers", "wire"],
  server: ["errors", "env", "rollout", "verifiers", "wire"],
  cli: [
    "errors",
    "images",
    "sandbox",
    "verifiers",
    "env",
    "operator",
    "replay",
    "rollout",
    "suites",
    "smolcua",
    "wire",
    "client",
    "server",
  ],
};

function files(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return files(path);
    return name.endsWith(".ts") ? [path] : [];
  });
}

/** Every relative import of a file, as a path without its ending. */
function imports(file: string): string[] {
  const text = readFileSync(file, "utf8");
  const found = text.matchAll(/(?:from|import|import\()\s*\(?["'](\.{1,2}\/[^"']+)["']/g);
  return [...found].map((match) => resolve(dirname(file), match[1] ?? ""));
}

function room(path: string): string {
  return relative(source, path).split("/")[0] ?? "";
}

describe("the rooms of src", () => {
  const rooms = readdirSync(source).filter(
    (name) => statSync(join(source, name)).isDirectory() && files(join(source, name)).length > 0,
  );

  it("are all in the table of arrows", () => {
    expect(rooms.filter((name) => !(name in arrows))).toEqual([]);
  });

  it.each(rooms)("%s imports only along its arrows", (name) => {
    const wrong = files(join(source, name)).flatMap((file) =>
      imports(file)
        .filter((target) => target.startsWith(source))
        .map((target) => room(target))
        .filter((target) => target !== name && !(arrows[name] ?? []).includes(target))
        .map((target) => `${relative(root, file)} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });
});

describe("the native monitor", () => {
  const native = join(root, "native");
  const sources = (folder: string): string[] =>
    readdirSync(folder).flatMap((name) => {
      const path = join(folder, name);
      if (statSync(path).isDirectory()) return sources(path);
      return /\.(cc|h)$/.test(name) ? [path] : [];
    });

  it("knows nothing of N-API", () => {
    const wrong = sources(join(native, "monitor")).filter((file) =>
      /#include\s*[<"](napi|node_api|js_native_api)/.test(readFileSync(file, "utf8")),
    );
    expect(wrong.map((file) => relative(root, file))).toEqual([]);
  });

  it("keeps its hart free of devices and machines", () => {
    const wrong = sources(join(native, "monitor", "cpu")).filter((file) =>
      /#include\s*"monitor\/(devices|machine|engine|snapshot)\//.test(readFileSync(file, "utf8")),
    );
    expect(wrong.map((file) => relative(root, file))).toEqual([]);
  });
});
