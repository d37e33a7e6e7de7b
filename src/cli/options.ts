/** Parsers of option values; commander turns what they throw into a usage error that names the option. */
import { InvalidArgumentError } from "commander";

/** A whole number within bounds. */
export function integer(
  minimum: number,
  maximum: number = Number.MAX_SAFE_INTEGER,
): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < minimum || value > maximum) {
      const range = maximum === Number.MAX_SAFE_INTEGER ? `from ${minimum}` : `from ${minimum} to ${maximum}`;
      throw new InvalidArgumentError(`must be a whole number ${range}.`);
    }
    return value;
  };
}

/** Whole numbers within bounds, separated by commas. */
export function integers(minimum: number, maximum: number): (text: string) => number[] {
  const one = integer(minimum, maximum);
  return (text) => text.split(",").map(one);
}

/** Seconds, fractions allowed. */
export function seconds(text: string): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError("must be a number of seconds.");
  return value;
}

/** A share of something, above 0. */
export function share(text: string): number {
  const value = Number(text);
  if (!/^\d*\.?\d+$/.test(text) || value <= 0) throw new InvalidArgumentError("must be a number above 0.");
  return value;
}

/** MiB of guest memory: what the machine's address map has room for. */
export const memory = integer(64, 4096);

/** Kind of guest memory. */
export function memoryKind(text: string): "soft" | "uffd" {
  if (text === "soft" || text === "uffd") return text;
  throw new InvalidArgumentError("must be soft or uffd.");
}

/** MiB of guest memory, its kind, or both in turn. */
export interface MemoryChoice {
  mib?: number;
  kind?: "soft" | "uffd";
}

export function memoryOrKind(text: string, before: MemoryChoice | undefined): MemoryChoice {
  if (text === "soft" || text === "uffd") return { ...before, kind: text };
  if (/^\d/.test(text)) return { ...before, mib: memory(text) };
  throw new InvalidArgumentError("must be a number of MiB, soft or uffd.");
}

/** Collects a repeatable option. */
export function repeated(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), text];
}

/** `LEFT:RIGHT`; the first colon divides. */
export function pair(text: string): [string, string] {
  const at = text.indexOf(":");
  if (at <= 0 || at === text.length - 1) throw new InvalidArgumentError("must be FROM:TO.");
  return [text.slice(0, at), text.slice(at + 1)];
}
