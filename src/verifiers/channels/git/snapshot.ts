/** What is copied of a repository for a verifier thread: files by their path below the git folder, and the working tree. */
import { decode, encode } from "@msgpack/msgpack";

export interface WorkFile {
  /** Below the root, with slashes. */
  path: string;
  /** As git writes it: 100644, 100755 or 120000. */
  mode: number;
  /** Content, or a link's target. */
  bytes: Uint8Array;
}

export interface Snapshot {
  /** Of the git folder: HEAD, refs, objects and the rest that is read. */
  files: Map<string, Uint8Array>;
  /** Null where the query does not ask for it. */
  work: WorkFile[] | null;
}

export function packSnapshot({ files, work }: Snapshot): Uint8Array {
  return encode({ files: [...files], work });
}

export function unpackSnapshot(bytes: Uint8Array): Snapshot {
  const { files, work } = decode(bytes) as { files: [string, Uint8Array][]; work: WorkFile[] | null };
  return { files: new Map(files), work };
}
