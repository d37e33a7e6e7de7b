import { z } from "zod";
import { record } from "../../../errors/record.js";
import { describe } from "../describe.js";

/** A token of RFC 9110, so that no header can smuggle another. */
const headerName = z
  .string()
  .max(200)
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "must be a header's name");
const headerValue = z
  .string()
  .min(1)
  .max(8_000)
  .regex(/^[^\0\r\n]+$/, "must be one line");

const request = {
  port: z.int().min(1).max(65_535),
  address: z.enum(["127.0.0.1", "::1"]).default("127.0.0.1"),
  method: z.enum(["GET", "HEAD", "POST"]).default("GET"),
  /** As it goes over the wire: what is not ASCII is percent-encoded. */
  path: z
    .string()
    .max(8_000)
    .regex(/^\/[\x21-\x22\x24-\x7e]*$/, "must begin with / and hold no spaces and no #")
    .default("/"),
  headers: record(headerName, headerValue).default({}),
  /** Of a POST, as it is. */
  body: z.string().max(1_000_000).optional(),
  timeout_ms: z.int().positive().max(600_000).default(10_000),
  max_bytes: z.int().positive().max(16_777_216).default(1_048_576),
};
/** Another status is an answer too: then what was asked for is not there. */
const wanted = { expect_status: z.int().min(100).max(599).default(200) };

/** A request to a service of the machine, made in a fork of its own in which the workload goes on. */
const httpQuery = z
  .discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("status"), ...request }),
    z.strictObject({ kind: z.literal("text"), ...request, ...wanted }),
    z.strictObject({ kind: z.literal("json"), ...request, ...wanted }),
    z.strictObject({ kind: z.literal("headers"), ...request, ...wanted }),
  ])
  .refine(({ method, body }) => body === undefined || method === "POST", "only a POST has a body");

export type HttpQuery = z.output<typeof httpQuery>;

export const httpChannel = describe({
  query: httpQuery,
  results: { status: "number", text: "text", json: "json", headers: "json" },
  version: 1,
  onlyLooks: false,
  machine: true,
  live: true,
});
