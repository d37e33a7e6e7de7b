import { ShinkenError } from "../../errors/index.js";
import { stream } from "../process.js";
import { parseParagraph, type Paragraph } from "./control.js";
import { readTar, type TarEntry } from "./tar.js";

/** A binary package's control part. */
export interface DebControl {
  fields: Paragraph;
  /** Every file of control.tar by its bare name: `postinst`, `conffiles`, `md5sums`, ... */
  files: Map<string, Buffer>;
}

/** Reads control.tar of a .deb by dpkg-deb; nothing is unpacked to the disk. */
export async function readControl(deb: string): Promise<DebControl> {
  const files = new Map<string, Buffer>();
  for await (const entry of readTar(stream("dpkg-deb", ["--ctrl-tarfile", deb]))) {
    if (entry.type === "file") files.set(entry.name.replace(/^\.\//, ""), entry.data);
  }
  const control = files.get("control");
  if (control === undefined) throw new ShinkenError("image_build_failed", `${deb} holds no control file`);
  return { fields: parseParagraph(control.toString("utf8")), files };
}

/** The members of data.tar of a .deb, in their order. */
export function readData(deb: string): AsyncGenerator<TarEntry, void, void> {
  return readTar(stream("dpkg-deb", ["--fsys-tarfile", deb]));
}

/** The lines of a control file such as `conffiles`, without empty ones and comments. */
export function controlLines(control: DebControl, name: string): string[] {
  const text = control.files.get(name)?.toString("utf8") ?? "";
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
}
