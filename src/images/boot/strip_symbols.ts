import { ShinkenError } from "../../errors/index.js";

/**
 * Takes the symbols out of a kernel module that nothing needs: the compiler's local labels, which make nine tenths of a
 * riscv64 module, and its BTF types. What a relocation names, every global symbol, and every named function stays.
 * Format: System V ABI, "Object Files" (ELF-64, little-endian, relocatable).
 */

const [headerBytes, sectionBytes, symbolBytes, relaBytes] = [64, 64, 24, 24];
const [typeSymtab, typeRela, typeNobits] = [2, 4, 8];
const bindLocal = 0;
const [symbolFunction, symbolFile] = [2, 4];
/** In the ELF header: where the section headers are, how many, and which holds the sections' names. */
const [atShoff, atShnum, atShstrndx] = [40, 60, 62];

interface Section {
  /** The section's header, changed in place. */
  header: Buffer;
  type: number;
  link: number;
  data: Buffer;
}

function sectionsOf(elf: Buffer): Section[] {
  const count = elf.readUInt16LE(atShnum);
  const table = Number(elf.readBigUInt64LE(atShoff));
  if (table + count * sectionBytes > elf.length) throw fault("its section headers lie outside the file");
  return Array.from({ length: count }, (_, index) => {
    const header = Buffer.from(
      elf.subarray(table + index * sectionBytes, table + (index + 1) * sectionBytes),
    );
    const [offset, size] = [Number(header.readBigUInt64LE(24)), Number(header.readBigUInt64LE(32))];
    const type = header.readUInt32LE(4);
    if (type !== typeNobits && offset + size > elf.length) throw fault("a section lies outside the file");
    const data = type === typeNobits ? Buffer.alloc(0) : Buffer.from(elf.subarray(offset, offset + size));
    return { header, type, link: header.readUInt32LE(40), data };
  });
}

function fault(why: string): ShinkenError {
  return new ShinkenError("image_build_failed", `a kernel module is not usable: ${why}`);
}

/** Indices of symbols that relocations name. */
function referenced(sections: readonly Section[], symtab: number): Set<number> {
  const used = new Set<number>([0]);
  for (const section of sections) {
    if (section.type !== typeRela || section.link !== symtab) continue;
    for (let at = 0; at + relaBytes <= section.data.length; at += relaBytes)
      used.add(section.data.readUInt32LE(at + 12));
  }
  return used;
}

function text(table: Buffer, start: number): string {
  const end = table.indexOf(0, start);
  if (start >= table.length || end < 0) throw fault("a name lies outside its table");
  return table.toString("latin1", start, end);
}

/** Gives the module without the symbols that nothing needs; what is no ELF file comes back as it is. */
export function stripSymbols(module: Buffer): Buffer {
  if (module.length < headerBytes || module.readUInt32BE(0) !== 0x7f454c46) return module;
  const sections = sectionsOf(module);
  const symtabIndex = sections.findIndex((section) => section.type === typeSymtab);
  const symtab = sections[symtabIndex];
  const names = symtab === undefined ? undefined : sections[symtab.link];
  const sectionNames = sections[module.readUInt16LE(atShstrndx)]?.data;
  if (symtab === undefined || names === undefined || sectionNames === undefined) return module;

  const used = referenced(sections, symtabIndex);
  const renumbered = new Map<number, number>();
  const kept: Buffer[] = [];
  const keptNames: Buffer[] = [Buffer.from([0])];
  let nameBytes = 1;
  let locals = 0;
  for (let index = 0; index * symbolBytes < symtab.data.length; index++) {
    const symbol = Buffer.from(symtab.data.subarray(index * symbolBytes, (index + 1) * symbolBytes));
    const info = symbol.readUInt8(4);
    const [bind, type] = [info >> 4, info & 15];
    const isNamedFunction = type === symbolFunction;
    if (!used.has(index) && bind === bindLocal && !isNamedFunction) continue;
    if (type === symbolFile && !used.has(index)) continue;
    const name = text(names.data, symbol.readUInt32LE(0));
    symbol.writeUInt32LE(name === "" ? 0 : nameBytes, 0);
    if (name !== "") {
      keptNames.push(Buffer.from(`${name}\0`, "latin1"));
      nameBytes += name.length + 1;
    }
    renumbered.set(index, kept.length);
    kept.push(symbol);
    // Local symbols stand before all others; the section's info field is the first that is not.
    if (bind === bindLocal) locals = kept.length;
  }
  symtab.data = Buffer.concat(kept);
  symtab.header.writeUInt32LE(locals, 44);
  names.data = Buffer.concat(keptNames);
  for (const section of sections) {
    if (section.type === typeRela && section.link === symtabIndex) renumber(section.data, renumbered);
    if (text(sectionNames, section.header.readUInt32LE(0)) === ".BTF") section.data = Buffer.alloc(0);
  }
  return assemble(module, sections);
}

function renumber(relocations: Buffer, indices: ReadonlyMap<number, number>): void {
  for (let at = 0; at + relaBytes <= relocations.length; at += relaBytes) {
    const index = indices.get(relocations.readUInt32LE(at + 12));
    if (index === undefined) throw fault("a relocation names a symbol that does not exist");
    relocations.writeUInt32LE(index, at + 12);
  }
}

function assemble(original: Buffer, sections: readonly Section[]): Buffer {
  const header = Buffer.from(original.subarray(0, headerBytes));
  const pieces: Buffer[] = [header];
  let at = headerBytes;
  const align = (alignment: number): void => {
    const padding = (alignment - (at % alignment)) % alignment;
    pieces.push(Buffer.alloc(padding));
    at += padding;
  };
  for (const section of sections) {
    align(Math.max(1, Number(section.header.readBigUInt64LE(48))));
    if (section.type !== 0) section.header.writeBigUInt64LE(BigInt(at), 24);
    if (section.type === typeNobits) continue;
    section.header.writeBigUInt64LE(BigInt(section.data.length), 32);
    pieces.push(section.data);
    at += section.data.length;
  }
  align(8);
  header.writeBigUInt64LE(BigInt(at), atShoff);
  return Buffer.concat([...pieces, ...sections.map((section) => section.header)]);
}
