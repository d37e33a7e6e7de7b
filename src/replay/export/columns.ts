/** Columns of an export: their types, once for all containers. Every value may be null, but for what a list holds. */
import type { ParquetWriter } from "hyparquet-writer";

/** `json`: a text that holds JSON, where readers want one column for whatever an open map holds. */
export type ColumnType =
  | "text"
  | "json"
  | "int"
  | "float"
  | "bool"
  | { list: ColumnType }
  | { fields: Readonly<Record<string, ColumnType>> };

export type Columns = Readonly<Record<string, ColumnType>>;

/** By name of the column; a field that is absent is null. */
export type Row = Readonly<Record<string, unknown>>;

type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]["schema"][number];

/** The columns as a Parquet schema, in the order of the format: depth first. */
export function parquetSchema(columns: Columns): SchemaElement[] {
  const names = Object.entries(columns);
  return [
    { name: "root", num_children: names.length },
    ...names.flatMap(([name, type]) => elements(name, type, "OPTIONAL")),
  ];
}

function elements(name: string, type: ColumnType, repetition_type: "OPTIONAL" | "REQUIRED"): SchemaElement[] {
  if (typeof type === "string") return [{ name, repetition_type, ...leaves[type] }];
  if ("list" in type)
    return [
      { name, repetition_type, converted_type: "LIST", num_children: 1 },
      { name: "list", repetition_type: "REPEATED", num_children: 1 },
      ...elements("element", type.list, "REQUIRED"),
    ];
  const fields = Object.entries(type.fields);
  return [
    { name, repetition_type, num_children: fields.length },
    ...fields.flatMap(([field, inner]) => elements(field, inner, "OPTIONAL")),
  ];
}

const leaves = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  json: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  int: { type: "INT64" },
  float: { type: "DOUBLE" },
  bool: { type: "BOOLEAN" },
} as const;

/** The value as the Parquet writer takes it: whole numbers of 64 bits are bigints there. */
export function parquetValue(value: unknown, type: ColumnType): unknown {
  if (value === null || value === undefined) return null;
  if (type === "int") return BigInt(value as number);
  if (typeof type === "string") return value;
  if ("list" in type) return (value as unknown[]).map((item) => parquetValue(item, type.list));
  const held = value as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(type.fields).map(([field, inner]) => [field, parquetValue(held[field], inner)]),
  );
}

/** Whether a number can stand in an `int` column. */
export const wholeNumber = (value: unknown): number | null =>
  typeof value === "number" && Number.isSafeInteger(value) ? value : null;

/** Text of an open value, for a `json` column. Bytes become base64: JSON has none. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_key, held: unknown) =>
    held instanceof Uint8Array
      ? Buffer.from(held.buffer, held.byteOffset, held.byteLength).toString("base64")
      : held,
  );
}
