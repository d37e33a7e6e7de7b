import { createHash } from "node:crypto";
import { formatParagraph, type Paragraph } from "../deb/control.js";
import { controlLines, type DebControl } from "../deb/package.js";
import type { TarEntry } from "../deb/tar.js";

/** Files under var/lib/dpkg, by their path there. */
export type DatabaseFiles = Map<string, { data: string | Buffer; mode: number }>;

const scripts = new Set(["preinst", "postinst", "prerm", "postrm", "config"]);
const md5 = (data: Uint8Array): string => createHash("md5").update(data).digest("hex");

/** A member's name as dpkg lists it: `/.` for the root, no slash at the end. */
function listedPath(name: string): string {
  const path = name.replace(/^\.\//, "/").replace(/\/$/, "");
  return path === "" || path === "/" || path === "." ? "/." : path;
}

/**
 * Builds dpkg's database as it stands after unpacking: every package `install ok unpacked`, its lists, sums, scripts
 * and the triggers it waits for, so that `dpkg --configure -a` does the rest. Layout: dpkg's own
 * "doc/internals" and deb-triggers(5).
 */
export class DpkgDatabase {
  private readonly files: DatabaseFiles = new Map();
  private readonly paragraphs: string[] = [];
  private readonly fileTriggers: string[] = [];
  private readonly namedTriggers = new Map<string, string[]>();

  add(control: DebControl, entries: readonly TarEntry[]): void {
    const name = control.fields.get("Package") ?? "";
    const architecture = control.fields.get("Architecture") ?? "";
    const isShared = control.fields.get("Multi-Arch") === "same";
    const base = isShared ? `${name}:${architecture}` : name;
    const content = new Map(
      entries.filter((entry) => entry.type === "file").map((entry) => [listedPath(entry.name), entry.data]),
    );

    this.put(`info/${base}.list`, entries.map((entry) => `${listedPath(entry.name)}\n`).join(""));
    for (const [file, data] of control.files) {
      if (file !== "control")
        this.files.set(`info/${base}.${file}`, { data, mode: scripts.has(file) ? 0o755 : 0o644 });
    }
    if (!control.files.has("md5sums")) {
      const sums = [...content].map(([path, data]) => `${md5(data)}  ${path.slice(1)}\n`);
      this.put(`info/${base}.md5sums`, sums.join(""));
    }
    for (const line of controlLines(control, "triggers")) this.interest(line, base);
    this.paragraphs.push(formatParagraph(statusOf(control, content)));
  }

  /** The finished database; `architecture` is the machine's. */
  finish(architecture: string): DatabaseFiles {
    this.put("status", this.paragraphs.map((paragraph) => `${paragraph}\n`).join(""));
    this.put("available", "");
    this.put("diversions", "");
    this.put("statoverride", "");
    this.put("arch", `${architecture}\n`);
    this.put("info/format", "1\n");
    this.put("triggers/File", this.fileTriggers.map((line) => `${line}\n`).join(""));
    this.put("triggers/Unincorp", "");
    for (const [trigger, packages] of this.namedTriggers) {
      this.put(`triggers/${trigger}`, packages.map((line) => `${line}\n`).join(""));
    }
    return this.files;
  }

  private put(path: string, data: string): void {
    this.files.set(path, { data, mode: 0o644 });
  }

  /** `interest[-await|-noawait] NAME`: a path goes to the one file, a name gets a file of its own. */
  private interest(line: string, base: string): void {
    const [verb = "", trigger = ""] = line.split(/\s+/);
    if (!verb.startsWith("interest") || trigger === "") return;
    const waiter = verb === "interest-noawait" ? `${base}/noawait` : base;
    if (trigger.startsWith("/")) this.fileTriggers.push(`${trigger} ${waiter}`);
    else this.namedTriggers.set(trigger, [...(this.namedTriggers.get(trigger) ?? []), waiter]);
  }
}

/**
 * A package's paragraph in the status file. Its configuration files are already in place under their own names, so
 * their present sums are entered and dpkg finds nothing to ask.
 */
function statusOf(control: DebControl, content: ReadonlyMap<string, Buffer>): Paragraph {
  const fields: Paragraph = new Map();
  for (const [name, value] of control.fields) {
    fields.set(name, value);
    if (name === "Package") fields.set("Status", "install ok unpacked");
  }
  const lines: string[] = [];
  for (const line of controlLines(control, "conffiles")) {
    const data = content.get(line);
    if (data !== undefined) lines.push(`\n ${line} ${md5(data)}`);
  }
  if (lines.length > 0) fields.set("Conffiles", lines.join(""));
  return fields;
}
