/** JSON as it was read, untouched: zod's own schema drops fields such as `__proto__`, which are names like any other here. */
import { z } from "zod";

export type Json = string | number | boolean | null | Json[] | JsonFields;
export interface JsonFields {
  [name: string]: Json;
}

/** Anything that `JSON.parse` gives; only what is missing is not taken. */
export const json = z.custom<Json>((value) => value !== undefined, "expected a value of JSON");

export const isFields = (value: unknown): value is JsonFields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
