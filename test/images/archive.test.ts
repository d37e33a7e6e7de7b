import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { keyrings, preparePrivateApt, transportSettings } from "../../src/images/apt/config.js";
import { missingPackages } from "../../src/images/apt/download.js";
import { aptFailure } from "../../src/images/apt/failure.js";
import { PackageIndex, type PackageRecord, parseRelease } from "../../src/images/apt/index_file.js";
import { chooseMirror, pickMirror, pickTemplateMirror } from "../../src/images/apt/mirror.js";
import { archivePath, parseSimulation, readSignedIndex } from "../../src/images/apt/resolve.js";
import { verifySigned } from "../../src/images/apt/signature.js";
import { sha256 } from "../../src/images/files.js";
import { gonePackages } from "../../src/images/packages.js";
import { scratchFolder } from "./support/tiny_deb.js";

const fixtures = join(dirname(fileURLToPath(import.meta.url)), "fixtures");
const fixture = (name: string): string => join(fixtures, name);
const folder = scratchFolder();
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});
const scratch = (name: string, data: string | Buffer): string => {
  writeFileSync(join(folder, name), data);
  return join(folder, name);
};
const key = "main/binary-riscv64/Packages";
const archiveKey = [fixture("archive-key.gpg")];

describe("a signed release", () => {
  it("gives exactly the text that was signed", async () => {
    const text = await verifySigned(fixture("InRelease"), archiveKey);
    expect(text.startsWith("Origin: Tests\n")).toBe(true);
    expect(text).not.toContain("BEGIN PGP");
    expect(parseRelease(text)).toMatchObject({
      codename: "trixie",
      date: Date.UTC(2026, 10, 21, 9, 15, 44) / 1000,
    });
  });

  it("is refused when one letter of it was altered", async () => {
    const altered = scratch(
      "altered",
      readFileSync(fixture("InRelease"), "utf8").replace("Origin: Tests", "Origin: Texts"),
    );
    await expect(verifySigned(altered, archiveKey)).rejects.toMatchObject({ code: "signature_invalid" });
  });

  it("is refused when only a stranger signed it, or nobody", async () => {
    await expect(verifySigned(fixture("InRelease"), [fixture("stranger-key.gpg")])).rejects.toMatchObject({
      code: "signature_invalid",
    });
    await expect(verifySigned(fixture("InRelease"), keyrings())).rejects.toMatchObject({
      code: "signature_invalid",
    });
    await expect(verifySigned(scratch("bare", "Origin: Tests\n"), archiveKey)).rejects.toMatchObject({
      code: "signature_invalid",
    });
  });

  it("does not lend its signature to text put before or after it", async () => {
    const signed = readFileSync(fixture("InRelease"), "utf8");
    const forged = scratch("forged", `Origin: Forged\n\n${signed}\nOrigin: Forged\n`);
    const text = await verifySigned(forged, archiveKey).catch(() => "refused");
    expect(text).not.toContain("Forged");
  });

  it("vouches for the package index, and an altered index is refused", async () => {
    const { index } = await readSignedIndex(fixture("InRelease"), fixture("Packages"), key, archiveKey);
    expect(index.find("alpha", "1:2.0-1")?.size).toBe(1234);
    const altered = scratch("Packages", readFileSync(fixture("Packages"), "utf8").replace("1234", "1235"));
    await expect(readSignedIndex(fixture("InRelease"), altered, key, archiveKey)).rejects.toMatchObject({
      code: "hash_mismatch",
    });
    await expect(
      readSignedIndex(fixture("InRelease"), altered, "main/other", archiveKey),
    ).rejects.toMatchObject({ code: "hash_mismatch" });
  });
});

describe("the package index", () => {
  const index = new PackageIndex(readFileSync(fixture("Packages"), "utf8"));

  it("finds a package by name and version and knows the essential ones", () => {
    expect(index.essential).toEqual(["alpha"]);
    expect(index.find("libbeta", "1.5")).toMatchObject({
      architecture: "all",
      filename: "pool/main/b/beta/libbeta_1.5_all.deb",
    });
    expect(index.find("libbeta", "1.6")).toBeUndefined();
    expect(index.find("alpha", "1:2.0-1")?.depends).toBe("libbeta (>= 1), gamma | delta");
  });

  it("refuses an entry whose size or sum makes no sense", () => {
    const broken = new PackageIndex(
      "Package: x\nVersion: 1\nArchitecture: all\nFilename: f\nSize: -4\nSHA256: 00\n",
    );
    expect(() => broken.versions("x")).toThrow(expect.objectContaining({ code: "image_build_failed" }));
  });

  it("names the packages of a former image that have gone or changed", () => {
    const alpha = index.find("alpha", "1:2.0-1") as PackageRecord;
    const gone = gonePackages(
      [alpha, { ...alpha, version: "1:1.0-1" }, { ...alpha, sha256: "0".repeat(64) }],
      index,
    );
    expect(gone.map((record) => `${record.version} ${record.sha256.slice(0, 2)}`)).toEqual([
      "1:1.0-1 11",
      "1:2.0-1 00",
    ]);
  });

  it("reads what apt would install", () => {
    const printed =
      "NOTE: a simulation\nInst alpha (1:2.0-1 Debian:13.8/stable [riscv64])\nConf alpha (1:2.0-1 Debian:13.8/stable [riscv64])\n";
    expect(parseSimulation(printed)).toEqual([{ name: "alpha", version: "1:2.0-1" }]);
  });
});

describe("a package's file in the cache", () => {
  const record: PackageRecord = {
    name: "p",
    version: "1:2",
    architecture: "all",
    filename: "p.deb",
    size: 4,
    sha256: sha256("good"),
    essential: false,
    depends: "",
  };

  it("counts as there only with the right size and sum; a wrong one is removed", async () => {
    const file = archivePath(folder, record);
    expect(file.endsWith("/p_1%3a2_all.deb")).toBe(true);
    expect(await missingPackages(folder, [record])).toEqual([record]);
    writeFileSync(file, "evil");
    expect(await missingPackages(folder, [record])).toEqual([record]);
    expect(() => readFileSync(file)).toThrow(/ENOENT/);
    writeFileSync(file, "good");
    expect(await missingPackages(folder, [record])).toEqual([]);
  });
});

describe("the private apt", () => {
  it("takes from the host how to reach the network and nothing else", () => {
    const dump = [
      'Acquire::http::Proxy "http://proxy.example:3128";',
      'Acquire::https::CaInfo "/etc/ca.pem";',
      'Acquire::Retries "3";',
      'Acquire::Check-Valid-Until "false";',
      'Acquire::AllowInsecureRepositories "1";',
      'Dir::Etc "etc/apt";',
      'DPkg::Post-Invoke:: "rm -rf /";',
      'APT::Architecture "amd64";',
      'Acquire::GzipIndexes "true";',
    ];
    expect(transportSettings(dump.join("\n"))).toEqual(dump.slice(0, 4));
  });

  it("writes everything below its own folder, for riscv64, signed by the project's keys", async () => {
    const apt = await preparePrivateApt(join(folder, "apt"), "http://mirror.example/debian");
    expect(apt.archives.startsWith(folder)).toBe(true);
    const sources = readFileSync(join(folder, "apt/etc/sources.list"), "utf8");
    expect(sources).toBe(
      `deb [arch=riscv64 signed-by=${folder}/apt/etc/keys.gpg] http://mirror.example/debian trixie main\n`,
    );
    const configuration = readFileSync(join(folder, "apt/etc/apt.conf"), "utf8");
    expect(configuration).toContain('APT::Architecture "riscv64";');
    expect(configuration).toContain('AllowInsecureRepositories "false";');
  });

  it("refuses a mirror that is no address", async () => {
    for (const mirror of [
      "not an address",
      "http://a/debian [trusted=yes]",
      "",
      "http://a/\ndeb http://b/",
    ]) {
      await expect(preparePrivateApt(join(folder, "bad"), mirror)).rejects.toMatchObject({
        code: "bad_request",
      });
    }
  });

  it("prefers the caller's mirror, then the environment's, then the host's own", async () => {
    expect(await chooseMirror("http://one.example/debian")).toEqual({
      url: "http://one.example/debian",
      from: "option",
    });
    const before = process.env["SHINKEN_DEBIAN_MIRROR"];
    process.env["SHINKEN_DEBIAN_MIRROR"] = "http://two.example/debian";
    try {
      expect((await chooseMirror(undefined)).url).toBe("http://two.example/debian");
    } finally {
      if (before === undefined) delete process.env["SHINKEN_DEBIAN_MIRROR"];
      else process.env["SHINKEN_DEBIAN_MIRROR"] = before;
    }
    const targets =
      "cdrom://x/|bookworm|main\nhttp://sec/debian-security/|bookworm-security|main\nhttp://own/debian/|bookworm|main\n";
    expect(pickMirror(targets, "bookworm")).toBe("http://own/debian");
    expect(pickMirror("http://own/debian/|bookworm|contrib\n", "bookworm")).toBeUndefined();
  });

  it("is what apt's template says where the host is another distribution", () => {
    const template =
      "X-Exclude-Suites: buzz\n\nSuite: {series}\nRepositoryType: deb\nBaseURI: https://mirror.example/debian/\n";
    expect(pickTemplateMirror(template)).toBe("https://mirror.example/debian");
    expect(pickTemplateMirror("Suite: x\n")).toBeUndefined();
    expect(pickTemplateMirror("")).toBeUndefined();
  });

  it("tells a full disk, a wrong sum and a bad signature apart", () => {
    const code = (output: string): string => aptFailure("fetching", output).code;
    expect(code("E: Write error - write (28: No space left on device)")).toBe("disk_full");
    expect(code("E: Failed to fetch http://m/p.deb  Hash Sum mismatch")).toBe("hash_mismatch");
    expect(code("E: The repository 'http://m trixie InRelease' is not signed.")).toBe("signature_invalid");
    expect(code("E: Failed to fetch http://m/p.deb  Could not resolve 'm'")).toBe("image_build_failed");
  });
});
