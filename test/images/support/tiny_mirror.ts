import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { FinishingBoot } from "../../../src/images/index.js";
import type { ImageRecipe } from "../../../src/images/recipe.js";
import { sha256 } from "../../../src/images/files.js";
import { makeDeb, type TinyDeb } from "./tiny_deb.js";

/** Why the host cannot run a signed mirror of its own, or null. */
export function mirrorObstacle(): string | null {
  for (const program of ["gpg", "gpgv", "apt-get", "dpkg-deb"]) {
    if (spawnSync(program, ["--version"]).status !== 0) return `the host has no program ${program}`;
  }
  return null;
}

export const tinyRecipe: ImageRecipe = {
  name: "tiny",
  packages: ["extra"],
  kernelPackage: "linux-image-riscv64",
  modules: ["one"],
  tools: ["erofs-utils", "busybox-static"],
  locales: ["xx_XX"],
  diskMiB: 1,
  finishMemoryMiB: 64,
};

const image = Buffer.alloc(64);
image.write("RSC\x05", 56, "latin1");

/** The packages that a tiny image needs; `version` is that of `extra`. */
export function tinyPackages(version = "1.0-1"): TinyDeb[] {
  return [
    {
      name: "base-files",
      fields: { Essential: "yes" },
      files: { "usr/lib/os-release": { data: "ID=tiny\n" } },
      symlinks: { lib: "usr/lib" },
    },
    {
      name: "extra",
      fields: { Version: version, Depends: "libextra" },
      files: { "usr/bin/extra": { data: `version ${version}`, mode: 0o755 } },
    },
    { name: "libextra", files: { "usr/lib/libextra.so": { data: "elf" } } },
    { name: "linux-image-riscv64", fields: { Depends: "linux-image-9-riscv64 (= 1.0-1)" } },
    {
      name: "linux-image-9-riscv64",
      files: {
        "boot/vmlinux-9": { data: image.toString("latin1") },
        "usr/lib/modules/9/kernel/one.ko": { data: "\0depends=\0" },
      },
    },
    { name: "erofs-utils", files: { "usr/bin/mkfs.erofs": { data: "mkfs" } } },
    { name: "busybox-static", files: { "usr/bin/busybox": { data: "busybox" } } },
    { name: "locales-all", files: { "usr/lib/locale/xx_XX/LC_TIME": { data: "noon" } } },
  ];
}

/** A Debian mirror on a loopback port, signed with a key made for it. */
export class TinyMirror {
  readonly keyring: string;
  private readonly folder: string;
  private readonly files = new Map<string, Buffer>();
  private readonly server: Server;
  /** Paths asked for, in order. */
  readonly requests: string[] = [];
  /** Called before each answer. */
  onRequest: (path: string) => void = () => undefined;
  /** The connection breaks off in the middle of what is served under a path that ends like this. */
  broken: string | undefined;

  private constructor(folder: string) {
    this.folder = folder;
    this.keyring = join(folder, "key.gpg");
    this.server = createServer((request, response) => {
      const path = decodeURIComponent(request.url ?? "");
      this.requests.push(path);
      this.onRequest(path);
      const body = this.files.get(path);
      if (body === undefined) response.writeHead(404).end();
      else if (this.broken !== undefined && path.endsWith(this.broken)) {
        response.writeHead(200, { "content-length": body.length });
        response.write(body.subarray(0, body.length / 2), () => response.destroy());
      } else response.writeHead(200, { "content-length": body.length }).end(body);
    });
  }

  static async start(folder: string): Promise<TinyMirror> {
    const mirror = new TinyMirror(folder);
    mkdirSync(mirror.home, { recursive: true, mode: 0o700 });
    mirror.gpg(["--passphrase", "", "--quick-gen-key", "mirror@example.org", "ed25519", "sign", "never"]);
    writeFileSync(mirror.keyring, mirror.gpg(["--export"]));
    await new Promise<void>((resolve) => mirror.server.listen(0, "127.0.0.1", resolve));
    return mirror;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/debian`;
  }

  private get home(): string {
    return join(this.folder, "gnupg");
  }

  private gpg(args: string[], input?: string): Buffer {
    return execFileSync("gpg", ["--homedir", this.home, "--batch", "--quiet", ...args], {
      input,
      stdio: ["pipe", "pipe", "ignore"],
    });
  }

  /** Serves these packages, as a new signed release of the given date. */
  publish(packages: readonly TinyDeb[], date = "Sat, 21 Nov 2026 09:15:44 UTC"): void {
    this.files.clear();
    this.broken = undefined;
    this.onRequest = () => undefined;
    const indexes = new Map([["riscv64", ""]]);
    for (const each of packages) {
      const folder = join(this.folder, sha256(JSON.stringify(each)).slice(0, 8));
      mkdirSync(folder, { recursive: true });
      const built = join(folder, `${each.name ?? "tiny"}.deb`);
      const deb = existsSync(built) ? built : makeDeb(folder, each);
      const bytes = readFileSync(deb);
      const architecture = each.fields?.["Architecture"] ?? "riscv64";
      const pool = architecture === "riscv64" ? "pool/main" : `pool/${architecture}`;
      const path = `${pool}/${each.name ?? "tiny"}_${each.fields?.["Version"] ?? "1.0-1"}.deb`;
      this.files.set(`/debian/${path}`, bytes);
      const control = execFileSync("dpkg-deb", ["--field", deb], { encoding: "utf8" });
      const entry = `${control}Filename: ${path}\nSize: ${bytes.length}\nSHA256: ${sha256(bytes)}\nMD5sum: ${createHash("md5").update(bytes).digest("hex")}\n\n`;
      indexes.set(architecture, `${indexes.get(architecture) ?? ""}${entry}`);
    }
    let sums = "";
    for (const [architecture, index] of indexes) {
      const path = `main/binary-${architecture}/Packages`;
      this.files.set(`/debian/dists/trixie/${path}`, Buffer.from(index));
      sums += ` ${sha256(index)} ${Buffer.byteLength(index)} ${path}\n`;
    }
    this.sign(
      `Origin: Tiny\nSuite: stable\nCodename: trixie\nDate: ${date}\nArchitectures: ${[...indexes.keys()].join(" ")}\n` +
        `Components: main\nSHA256:\n${sums}`,
    );
  }

  /** Changes what is served under every path that ends with `suffix`. */
  tamper(suffix: string, change: (body: Buffer) => Buffer): void {
    for (const [path, body] of this.files) if (path.endsWith(suffix)) this.files.set(path, change(body));
  }

  /** Serves nothing any more under every path that ends with `suffix`. */
  remove(suffix: string): void {
    for (const path of this.files.keys()) if (path.endsWith(suffix)) this.files.delete(path);
  }

  async stop(): Promise<void> {
    spawnSync("gpgconf", ["--homedir", this.home, "--kill", "all"]);
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private sign(release: string): void {
    this.files.set("/debian/dists/trixie/InRelease", this.gpg(["--clearsign"], release));
  }
}

/** A finishing boot that does not boot: it leaves a superblock, and its report on the console. */
export function fakeBoot(seen: { initrd: Buffer[] } = { initrd: [] }): FinishingBoot {
  return (boot) => {
    const initrd = readFileSync(boot.initrd);
    seen.initrd.push(initrd);
    const disk = Buffer.alloc(boot.disk.sizeBytes);
    disk.writeUInt32LE(0xe0f5e1e2, 1024);
    disk.writeUInt8(12, 1036);
    disk.writeUInt32LE(3, 1060);
    disk.write(sha256(initrd), 8192);
    writeFileSync(boot.disk.path, disk);
    boot.onConsole(
      `@finish stage boot @0.5\nSetting up extra (1.0-1) ...\n@finish done ${sha256(disk.subarray(0, 4096))} @1.0\n`,
    );
    return Promise.resolve({ ok: true, reason: "power-off" });
  };
}
