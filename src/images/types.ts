/** What this room hands out and what it asks for; see docs/images.md. */

/** A built guest image in the cache folder. All paths are absolute and read-only by convention. */
export interface ImageInfo {
  name: string;
  /** SHA-256 in hex over kernel, initial root, root and boot arguments. */
  digest: string;
  kernel: string;
  /** Initial root (cpio, uncompressed): the agent as /init, and modules. */
  initrd: string;
  /** Root file system (erofs), to be given to the machine as its first, read-only block device. */
  root: string;
  manifest: string;
  /** Boot arguments that every machine of this image starts with. */
  appendBase: string;
  /** Date of the signed release that the packages came from, seconds since the epoch: the clock of a setup. */
  releaseDate: number;
  /** Kernel, initial root and root together. */
  sizeBytes: number;
}

/** Stages in the order in which they happen; a stage that had nothing to do says so in `text`. */
export type ImageStage = "packages" | "tree" | "boot" | "image";

/** `done` and `total` are bytes for packages and tree, packages configured for boot, 0..1 for image. */
export interface ImageProgress {
  stage: ImageStage;
  done: number;
  total: number;
  text: string;
}

export interface FinishingBootRequest {
  kernel: string;
  initrd: string;
  append: string;
  memoryMiB: number;
  disk: { path: string; sizeBytes: number; writable: true };
  /** Console output as it comes, in pieces of any length. */
  onConsole: (text: string) => void;
}

/** Runs a machine until it powers itself off. `ok` is false for a panic, a limit or a missing power-off. */
export type FinishingBoot = (boot: FinishingBootRequest) => Promise<{ ok: boolean; reason: string }>;

export interface BuildOptions {
  /** Default: `SHINKEN_CACHE`, else `$XDG_CACHE_HOME/shinken`, else `~/.cache/shinken`. */
  cacheDir?: string | undefined;
  /** A manifest.json of a former image: exactly its versions are taken. */
  locked?: string | undefined;
  /** Base URL of a Debian mirror; default `SHINKEN_DEBIAN_MIRROR`, else the host's own, else Debian's. */
  mirror?: string | undefined;
  /** Ask the mirror what is current even if the image is already built. */
  refresh?: boolean | undefined;
  /** Byte-compile Python's modules in the finishing boot, as where the host cannot: the same bytes, but slowly. */
  guestPython?: boolean | undefined;
  /** The static riscv64 agent; default `build/agent/shinken-agent` of this package. */
  agent?: string | undefined;
  onProgress?: ((event: ImageProgress) => void) | undefined;
  runFinishingBoot: FinishingBoot;
}
