/** The uniqueness step of a fork. */
import { ShinkenError } from "../../errors/index.js";
import { GuestError } from "./failures.js";
import { Op } from "./frame.js";
import type { AgentLink, ExchangeOptions } from "./link.js";
import { uniquenessReply } from "./replies.js";
import { request } from "./request.js";

/** What a fork is told to become. */
export interface ForkPacket {
  /** Random UUID that names this generation to userspace. */
  generation: string;
  /** 32 to 256 bytes for the guest's generator. */
  entropy: Uint8Array;
  hostname: string;
  /** 32 hex digits. */
  machineId: string;
  bootId: string;
  /** Wall clock; unsaid, the guest's goes on. */
  clock?: { seconds: number; nanoseconds: number } | undefined;
  /** For the network device, should the machine have one: six hex pairs with colons. */
  mac?: string | undefined;
  ip?: string | undefined;
}

export interface ForkAcknowledgement {
  /** 32 bytes of the guest's generator after the step; no two forks may show the same. */
  sample: Uint8Array;
  network: "absent" | "set";
  /** Registered processes that were signalled. */
  notified: number;
  /** Hooks of the image that ran, all of them to a good end. */
  hooks: number;
}

function hexBytes(text: string, count: number, path: string): Uint8Array {
  const hex = text.replaceAll(/[-:]/g, "");
  if (hex.length !== 2 * count || !/^[0-9a-f]*$/i.test(hex)) {
    throw new ShinkenError("bad_request", `${path} is not ${count} bytes in hex.`, { path });
  }
  return Uint8Array.from(Buffer.from(hex, "hex"));
}

/** An acknowledgement that belongs to another fork. */
export class RepeatedError extends ShinkenError {
  constructor(message: string) {
    super("fork_failed", message);
    this.name = "RepeatedError";
  }
}

/** Makes the machine unique. Rejects with `fork_failed`, which names the guest's step, or why no acknowledgement came. */
export async function makeUnique(
  link: AgentLink,
  packet: ForkPacket,
  limits: ExchangeOptions,
): Promise<ForkAcknowledgement> {
  const generation = hexBytes(packet.generation, 16, "generation");
  const fields = {
    generation,
    seed: packet.entropy,
    hostname: packet.hostname,
    machineId: packet.machineId,
    bootId: packet.bootId,
    clock: packet.clock === undefined ? undefined : [packet.clock.seconds, packet.clock.nanoseconds],
    mac: packet.mac === undefined ? undefined : hexBytes(packet.mac, 6, "mac"),
    ip: packet.ip,
  };
  try {
    const reply = await request(link, Op.uniqueness, "uniqueness", fields, uniquenessReply, limits);
    if (Buffer.compare(reply.generation, generation) !== 0) {
      throw new RepeatedError("The fork acknowledged another generation.");
    }
    const { network, notified, hooks } = reply;
    return { sample: reply.sample.slice(), network, notified, hooks };
  } catch (cause) {
    if (!(cause instanceof GuestError)) throw cause;
    throw new ShinkenError(
      "fork_failed",
      `The fork failed its uniqueness step '${cause.step}': ${cause.errno}.`,
      { cause },
    );
  }
}
