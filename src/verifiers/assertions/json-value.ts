import { z } from "zod";

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export const json: z.ZodType<Json> = z.json();
