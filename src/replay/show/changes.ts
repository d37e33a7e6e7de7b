/** What actions changed in files, as far as the episode itself tells: there is no machine behind a bundle that is looked at. */
import { posix } from "node:path";
import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from "diff";
import type { Bundle, BundleStep } from "../read/bundle.js";

export interface FileChange {
  /** step.index of the action. */
  action: string;
  path: string;
  /**
   * `edited`: from a text that is known to another. `written`: a whole file, of which nothing was known before. `appended`: an end
   * was added to what is not known. `piece`: a piece was replaced in a file of which no more is known.
   */
  kind: "edited" | "written" | "appended" | "piece";
  /** A unified diff; null where the content is no text, or too much has changed to tell how. */
  patch: string | null;
}

/** More changed lines than this are not told one by one. */
const editsAtMost = 5_000;

/** The changes of each step, by its number. */
export function fileChanges(bundle: Bundle): Map<number, FileChange[]> {
  const files = new KnownFiles();
  return new Map(bundle.steps.map((step) => [step.step, files.follow(step)]));
}

/** Whole texts that the episode has told, until something ran that may have changed them. */
class KnownFiles {
  readonly #texts = new Map<string, string>();

  follow({ step, actions, observation }: BundleStep): FileChange[] {
    const results = observation?.observation.results ?? [];
    return actions.flatMap(({ action, action_id: id }, index) => {
      const result = results[index];
      // Without an answer nobody knows whether it was done.
      const done = result !== undefined && result["error"] === undefined;
      const change = this.#follow(action, done ? result : null);
      return change === null ? [] : [{ action: id ?? `${step}.${index}`, ...change }];
    });
  }

  #follow(
    action: Record<string, unknown>,
    result: Record<string, unknown> | null,
  ): Omit<FileChange, "action"> | null {
    switch (action["type"]) {
      case "write_file":
        return result === null ? null : this.#written(action, placeOf(action, result));
      case "edit_file":
        return result === null ? null : this.#edited(action, result, placeOf(action, result));
      case "read_file":
        if (result !== null) this.#read(action, result);
        return null;
      case "done":
      case "fail":
        return null;
      default:
        this.#texts.clear();
        return null;
    }
  }

  #read(action: Record<string, unknown>, result: Record<string, unknown>): void {
    const { path, lines, offset, limit } = action;
    const part = lines !== undefined || offset !== undefined || limit !== undefined;
    const { text, truncated, escaped } = result;
    if (part || truncated !== false || escaped !== false) return;
    if (typeof path === "string" && path.startsWith("/") && typeof text === "string")
      this.#texts.set(posix.normalize(path), text);
  }

  #written(action: Record<string, unknown>, path: string): Omit<FileChange, "action"> {
    const before = this.#texts.get(path);
    this.#texts.delete(path);
    const content = textOf(action);
    const append = action["append"] === true;
    if (content === null) return { path, kind: append ? "appended" : "written", patch: null };
    if (append && before === undefined) return { path, kind: "appended", patch: patchOf(path, "", content) };
    const after = append ? `${before ?? ""}${content}` : content;
    this.#texts.set(path, after);
    return {
      path,
      kind: before === undefined ? "written" : "edited",
      patch: patchOf(path, before ?? "", after),
    };
  }

  #edited(
    action: Record<string, unknown>,
    result: Record<string, unknown>,
    path: string,
  ): Omit<FileChange, "action"> | null {
    const { old_text: piece, new_text: other } = action;
    if (typeof piece !== "string" || typeof other !== "string") return null;
    const before = this.#texts.get(path);
    if (before?.includes(piece)) {
      const after = before.split(piece).join(other);
      this.#texts.set(path, after);
      return { path, kind: "edited", patch: patchOf(path, before, after) };
    }
    this.#texts.delete(path);
    const line = /at line (\d+)/.exec(String(result["text"]))?.[1];
    return { path, kind: "piece", patch: patchOf(path, piece, other, line === undefined ? 1 : Number(line)) };
  }
}

/** Results tell the absolute path. */
function placeOf(action: Record<string, unknown>, result: Record<string, unknown>): string {
  return String(result["path"] ?? action["path"]);
}

/** What is written, if it is text. */
function textOf({ content, encoding }: Record<string, unknown>): string | null {
  if (typeof content !== "string") return null;
  if (encoding !== "base64") return content;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(content, "base64"));
  } catch {
    return null;
  }
}

/** `line`: where the texts stand in their file, from 1. */
function patchOf(path: string, before: string, after: string, line = 1): string | null {
  const patch = structuredPatch(path, path, before, after, undefined, undefined, {
    context: 3,
    maxEditLength: editsAtMost,
  });
  if (patch === undefined) return null;
  for (const hunk of patch.hunks) {
    hunk.oldStart += line - 1;
    hunk.newStart += line - 1;
  }
  return formatPatch(patch, FILE_HEADERS_ONLY);
}
