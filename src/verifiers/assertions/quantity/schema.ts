/** A number with a unit or a currency, written in text. */
import { z } from "zod";
import { atLeastOne, expected } from "../expected-schema.js";

const rule = atLeastOne(["equals", "min", "max", "above", "below"]);

export const quantityAssertion = z
  .strictObject({
    type: z.literal("quantity"),
    /** Unit of the numbers below; what the text says is converted to it. Unsaid: the text has none. */
    unit: z.string().min(1).optional(),
    /** Signs that mean a currency here, e.g. `{"$": "USD"}`. */
    signs: z
      .record(z.string().min(1).max(4), z.string().regex(/^[A-Z]{3}$/, "must be three capitals"))
      .default({}),
    /** The sign before the decimals; the other of the two, spaces and apostrophes may stand between thousands. */
    decimal: z.enum([".", ","]).default("."),
    equals: expected(z.number()).optional(),
    /** Largest absolute difference from `equals`. */
    tolerance: z.number().nonnegative().default(0),
    /** Largest difference from `equals` as a share of it. */
    relative_tolerance: z.number().min(0).max(1).default(0),
    min: z.number().optional(),
    max: z.number().optional(),
    above: z.number().optional(),
    below: z.number().optional(),
  })
  .refine(rule.check, rule.message);
export type QuantityAssertion = z.output<typeof quantityAssertion>;
