import { execFileSync } from "node:child_process";
import { chmodSync, linkSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export interface TinyDeb {
  name?: string;
  fields?: Record<string, string>;
  control?: Record<string, string>;
  files?: Record<string, { data: string; mode?: number }>;
  symlinks?: Record<string, string>;
  /** New name → existing file. */
  hardlinks?: Record<string, string>;
}

export function scratchFolder(): string {
  return mkdtempSync(join(tmpdir(), "shinken-images-test-"));
}

/** Makes a .deb with dpkg-deb and gives back its path. */
export function makeDeb(folder: string, deb: TinyDeb): string {
  const name = deb.name ?? "tiny";
  const tree = join(folder, `${name}-tree`);
  const put = (path: string, data: string, mode = 0o644): void => {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), data);
    chmodSync(join(tree, path), mode);
  };
  const fields = {
    Package: name,
    Version: "1.0-1",
    Architecture: "riscv64",
    Maintainer: "A Test <test@example.org>",
    ...deb.fields,
  };
  const control = Object.entries(fields)
    .map(([key, value]) => `${key}: ${value}\n`)
    .join("");
  put("DEBIAN/control", `${control}Description: a package\n made for a test\n`);
  for (const [file, data] of Object.entries(deb.control ?? {}))
    put(`DEBIAN/${file}`, data, file.endsWith("inst") ? 0o755 : 0o644);
  for (const [path, file] of Object.entries(deb.files ?? {})) put(path, file.data, file.mode);
  for (const [path, target] of Object.entries(deb.symlinks ?? {})) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    symlinkSync(target, join(tree, path));
  }
  for (const [path, existing] of Object.entries(deb.hardlinks ?? {}))
    linkSync(join(tree, existing), join(tree, path));
  const out = join(folder, `${name}.deb`);
  execFileSync("dpkg-deb", ["--root-owner-group", "-Zxz", "--build", tree, out], {
    stdio: "ignore",
    env: { ...process.env, SOURCE_DATE_EPOCH: "1700000000" },
  });
  return out;
}
