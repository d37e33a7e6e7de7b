/** JSON Schemas of the channels, as they stand in the files and in `docs/skn/`. */
import { z } from "zod";
import { type Channel, channelNames, envelope, payloads } from "./channels.js";

/** Schema of one channel's events, envelope included. */
export function schemaOf(channel: Channel): Record<string, unknown> {
  const whole = z.looseObject({ ...envelope.shape, ...payloads[channel].shape });
  return z.toJSONSchema(whole.describe(`skn channel ${channel}`), { unrepresentable: "any" });
}

/** Of all channels, by name. */
export function allSchemas(): Record<Channel, Record<string, unknown>> {
  return Object.fromEntries(channelNames.map((name) => [name, schemaOf(name)])) as Record<
    Channel,
    Record<string, unknown>
  >;
}
