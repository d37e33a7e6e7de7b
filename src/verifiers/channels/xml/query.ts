import { z } from "zod";
import { describe } from "../describe.js";
import { selectorKinds, selectorResults } from "../selector.js";

/** A well-formed XML file. Names are compared as they are written, prefix included. */
const xmlQuery = z.discriminatedUnion("kind", [...selectorKinds("keep")]);

export type XmlQuery = z.output<typeof xmlQuery>;

export const xmlChannel = describe({
  query: xmlQuery,
  results: selectorResults,
  version: 1,
  onlyLooks: true,
  machine: true,
});
