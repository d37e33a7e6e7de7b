/** Schemas of the channels' events: as zod for readers, as JSON Schema for the files and `docs/skn/schemas/`. */
import { z } from "zod";
import { type Channel, channelNames, envelope, payloads } from "./channels.js";

/** Of one channel's events, envelope included. */
export const eventSchemas = Object.fromEntries(
  channelNames.map((name): [Channel, z.ZodType] => [
    name,
    z.looseObject({ ...envelope.shape, ...payloads[name].shape }),
  ]),
) as Record<Channel, z.ZodType>;

/** The name of a channel's schema record. Only channels of the format have such names. */
export function schemaName(channel: string): string {
  return `${schemaPrefix}${channel}`;
}

export const schemaPrefix = "skn.";

/** JSON Schema of one channel's events, envelope included. */
export function schemaOf(channel: Channel): Record<string, unknown> {
  return z.toJSONSchema(eventSchemas[channel].describe(`skn channel ${channel}`), { unrepresentable: "any" });
}

/** Of all channels, by name. */
export function allSchemas(): Record<Channel, Record<string, unknown>> {
  return Object.fromEntries(channelNames.map((name) => [name, schemaOf(name)])) as Record<
    Channel,
    Record<string, unknown>
  >;
}
