import { posix } from "node:path";
import type { TarEntry } from "../deb/tar.js";
import { canonicalPath } from "../root/tree.js";

/** Folders whose modules are byte-compiled; the same as in guest/compile_all.py. */
const libraries = /^usr\/(lib|share)\/python3[^/]*\/(.*\/)?[^/]+\.py$/;
/** Where a module may be a link to: Debian keeps sitecustomize.py among the configuration files. */
const configuration = /^etc\/python3[^/]*\/[^/]+\.py$/;

export interface PythonSource {
  /** Below the root, without a leading slash. */
  path: string;
  data: Buffer;
  mtime: number;
}

/** Gathers the Python modules of the packages as they pass by. */
export class PythonSources {
  private readonly files = new Map<string, TarEntry>();
  private readonly links = new Map<string, string>();

  add(entries: readonly TarEntry[]): void {
    for (const entry of entries) {
      const path = canonicalPath(entry.name);
      if (!libraries.test(path) && !configuration.test(path)) continue;
      if (entry.type === "file") this.files.set(path, entry);
      if (entry.type === "symlink")
        this.links.set(path, canonicalPath(posix.resolve(`/${posix.dirname(path)}`, entry.link)));
    }
  }

  /** Every module of the libraries; one that is a link has the content and time of the file at its end. */
  list(): PythonSource[] {
    const sources: PythonSource[] = [];
    for (const path of [...this.files.keys(), ...this.links.keys()].sort()) {
      const entry = this.files.get(path) ?? this.files.get(this.links.get(path) ?? "");
      if (entry !== undefined && libraries.test(path))
        sources.push({ path, data: entry.data, mtime: entry.mtime });
    }
    return sources;
  }
}
