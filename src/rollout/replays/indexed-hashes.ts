/** Whether bundles are still what they were when they were finished: their folders' indexes hold the hash of each whole file. */
import { relative, resolve, sep } from "node:path";
import { ShinkenError } from "../../errors/index.js";
import { type Bundle, homeOf, type IndexLine, readIndex } from "../../replay/index.js";

export class IndexedHashes {
  readonly #indexes = new Map<string, Promise<Map<string, IndexLine>>>();

  /** Rejects with `bad_bundle` if the index knows the file by another hash; a file that it does not know passes. */
  async check({ file, end }: Bundle): Promise<void> {
    const folder = homeOf(resolve(file));
    if (folder === null) return;
    const index = this.#indexes.get(folder) ?? readIndex(folder);
    this.#indexes.set(folder, index);
    const known = (await index).get(relative(folder, resolve(file)).split(sep).join("/"));
    if (known === undefined || known.sha256 === end.sha256) return;
    throw new ShinkenError(
      "bad_bundle",
      `${file} was changed since it was finished: its hash is not the index's`,
      {
        path: file,
        suggestion: "shinken replay check says what is damaged",
      },
    );
  }
}
