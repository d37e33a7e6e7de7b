import { ShinkenError } from "../../errors/index.js";
import { paragraphs, parseParagraph, type Paragraph } from "../deb/control.js";

/** A binary package as the signed index lists it. */
export interface PackageRecord {
  name: string;
  version: string;
  architecture: string;
  /** Path of the .deb below the mirror. */
  filename: string;
  size: number;
  sha256: string;
  essential: boolean;
  depends: string;
}

/** What a release file says: its date and the sums of its index files. */
export interface Release {
  /** Seconds since the epoch. */
  date: number;
  codename: string;
  /** Path below the release's folder → size and SHA-256. */
  sums: ReadonlyMap<string, { size: number; sha256: string }>;
}

/** Parses the signed text of a release file. Throws `image_build_failed` if a needed field is missing. */
export function parseRelease(text: string): Release {
  const fields = parseParagraph(text);
  const date = Date.parse(fields.get("Date") ?? "");
  if (Number.isNaN(date)) throw new ShinkenError("image_build_failed", "the release file has no valid date");
  const sums = new Map<string, { size: number; sha256: string }>();
  for (const line of (fields.get("SHA256") ?? "").split("\n")) {
    const [sha256, size, path] = line.trim().split(/\s+/);
    if (sha256 !== undefined && size !== undefined && path !== undefined)
      sums.set(path, { size: Number(size), sha256 });
  }
  return { date: date / 1000, codename: fields.get("Codename") ?? "", sums };
}

function record(fields: Paragraph): PackageRecord {
  const need = (name: string): string => {
    const value = fields.get(name);
    if (value === undefined || value === "") {
      throw new ShinkenError("image_build_failed", `the package index has an entry without ${name}`);
    }
    return value;
  };
  const sha256 = need("SHA256");
  const size = Number(need("Size"));
  if (!/^[0-9a-f]{64}$/.test(sha256) || !Number.isSafeInteger(size) || size <= 0) {
    throw new ShinkenError(
      "image_build_failed",
      `the package index has a malformed entry for ${need("Package")}`,
    );
  }
  return {
    name: need("Package"),
    version: need("Version"),
    architecture: need("Architecture"),
    filename: need("Filename"),
    size,
    sha256,
    essential: fields.get("Essential") === "yes",
    depends: [fields.get("Pre-Depends"), fields.get("Depends")]
      .filter((value) => value !== undefined)
      .join(", "),
  };
}

/** A Packages file; entries are parsed when somebody asks for them, for there are tens of thousands. */
export class PackageIndex {
  private readonly raw = new Map<string, string[]>();
  readonly essential: string[] = [];

  constructor(text: string) {
    for (const paragraph of paragraphs(text)) {
      const name = /^Package: *(\S+)/m.exec(paragraph)?.[1];
      if (name === undefined) continue;
      const known = this.raw.get(name);
      if (known === undefined) this.raw.set(name, [paragraph]);
      else known.push(paragraph);
      if (/^Essential: *yes$/m.test(paragraph)) this.essential.push(name);
    }
    this.essential.sort();
  }

  /** Every version of a package that the index lists. */
  versions(name: string): PackageRecord[] {
    return (this.raw.get(name) ?? []).map((paragraph) => record(parseParagraph(paragraph)));
  }

  /** Exactly this version, or undefined. */
  find(name: string, version: string): PackageRecord | undefined {
    return this.versions(name).find((entry) => entry.version === version);
  }
}
