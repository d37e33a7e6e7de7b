/**
 * What each image is made of. A change of anything here that changes an image's bytes needs a new `recipeVersion`:
 * it is part of the key under which built roots are cached.
 */

/** Version of the recipe: package lists, path rules, finishing script, boot arguments. */
export const recipeVersion = 6;

export const suite = "trixie";
export const component = "main";
export const architecture = "riscv64";

/** A program that every fork of the image runs in its uniqueness step; see docs/uniqueness.md. */
export interface ImageHook {
  /** Hooks run in the order of their names, byte by byte. */
  name: string;
  /** Text of the script, with its interpreter's line; the interpreter comes from the image. */
  script: string;
}

export interface ImageRecipe {
  name: string;
  /** Packages asked for by name, beside every package marked Essential; apt adds their dependencies. */
  packages: readonly string[];
  /** The metapackage whose first dependency is the kernel. */
  kernelPackage: string;
  /** Modules that the initial root loads; what they depend on is added in front of them. */
  modules: readonly string[];
  /** Programs that the finishing boot needs but the image does not hold. */
  tools: readonly string[];
  /** Locales taken out of locales-all, following its links. */
  locales: readonly string[];
  /** What makes forks unique beyond what the agent does; unsaid, nothing. Packages may bring more in the same folder. */
  hooks?: readonly ImageHook[];
  /** File systems are padded to a multiple of this; also the block device's sector granularity. */
  diskMiB: number;
  /** Memory of the finishing boot: the whole root, twice, in a ramfs. */
  finishMemoryMiB: number;
}

const shell: ImageRecipe = {
  name: "shell",
  packages: [
    ...[
      "bash",
      "coreutils",
      "findutils",
      "grep",
      "sed",
      "gawk",
      "diffutils",
      "patch",
      "file",
      "less",
      "tree",
    ],
    // Every fork has a name of its own, which has to resolve.
    "libnss-myhostname",
    ...["util-linux", "mount", "procps", "psmisc", "iproute2", "netbase", "adduser", "tzdata", "hostname"],
    ...["sqlite3", "jq", "python3", "python3-gdbm", "python3-venv", "perl-base", "git", "make"],
    ...["openssl", "ca-certificates", "curl"],
    ...["zip", "unzip", "tar", "gzip", "xz-utils", "bzip2", "nano", "vim-tiny"],
  ],
  kernelPackage: "linux-image-riscv64",
  // crc32c_generic is a soft dependency that no list names; erofs does not mount without it.
  modules: [
    "virtio_mmio",
    "virtio_blk",
    "crc32c_generic",
    "libcrc32c",
    "netfs",
    "erofs",
    "overlay",
    "virtio_net",
  ],
  tools: ["erofs-utils", "busybox-static"],
  locales: ["en_US.utf8"],
  diskMiB: 1024,
  finishMemoryMiB: 1536,
};

export const recipes: ReadonlyMap<string, ImageRecipe> = new Map([[shell.name, shell]]);

/** Files that stay out of every image, in dpkg's own pattern language; the image's dpkg gets the same rules. */
export const pathRules: readonly { keep: boolean; pattern: string }[] = [
  { keep: false, pattern: "/usr/share/man/*" },
  { keep: false, pattern: "/usr/share/info/*" },
  { keep: false, pattern: "/usr/share/lintian/*" },
  { keep: false, pattern: "/usr/share/doc/*" },
  { keep: true, pattern: "/usr/share/doc/*/copyright" },
  { keep: false, pattern: "/usr/share/locale/*" },
  { keep: true, pattern: "/usr/share/locale/locale.alias" },
  { keep: true, pattern: "/usr/share/locale/en/*" },
];

/**
 * Boot arguments of every machine. Huge pages off: Debian's default clears 512 pages at a time that a fork then
 * owns. No clearing at allocation, no audit, no watchdog: nothing that runs or writes without being asked to. A
 * panic or an oops ends the machine at once, so that the host sees it. No self-tests of the crypto drivers: they run on
 * behind init and would more than double what the first boot executes until it is quiet (1.8 against 0.7 G instructions).
 */
export const appendBase = [
  "console=ttyS0 loglevel=4",
  "transparent_hugepage=never init_on_alloc=0",
  "audit=0 nowatchdog cryptomgr.notests",
  "panic=-1 oops=panic",
].join(" ");

/** The finishing boot keeps its root in a ramfs: a tmpfs would end at half of the memory. */
export const appendFinish = `${appendBase} rootfstype=ramfs rdinit=/init`;
