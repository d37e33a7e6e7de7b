/**
 * What makes one fork differ from its siblings, drawn from the host's CSPRNG or, in a seeded run, derived from the
 * run's seed: HKDF-SHA256 (RFC 5869) with the fork's path as salt and one label for each value.
 */
import { hkdfSync, randomBytes } from "node:crypto";
import { ShinkenError } from "../../errors/index.js";

/** Bytes of a run seed. */
export const SEED_BYTES = 32;
/** At least the bytes of all values of an unseeded identity. */
const DRAWN_BYTES = 256;
/** Bytes of entropy that the guest's generator is given. */
const ENTROPY_BYTES = 64;

/** The values of a fork packet. */
export interface ForkIdentity {
  /** VM generation ID that the host writes before the child's first instruction. */
  generationId: Uint8Array;
  entropy: Uint8Array;
  /** Random UUID that names this generation to userspace. */
  generation: string;
  hostname: string;
  /** 32 hex digits, as /etc/machine-id. */
  machineId: string;
  bootId: string;
  /** Locally administered unicast address. */
  mac: string;
  /** Address in 10.0.0.0/8, the network that all machines are on. */
  ip: string;
  /** Seed from which this machine's own branches derive theirs; null when nothing was seeded. */
  childSeed: Uint8Array | null;
}

type Draw = (label: string, length: number) => Uint8Array;

/**
 * Draws an identity. `path` names the fork within its run (`replica`, `branch/3`), so that two forks of one seed differ.
 * @throws ShinkenError `bad_request` if the seed is not 32 bytes long.
 */
export function drawIdentity(seed: Uint8Array | null, path: string): ForkIdentity {
  if (seed !== null && seed.byteLength !== SEED_BYTES) {
    throw new ShinkenError(
      "bad_request",
      `a fork seed has ${SEED_BYTES} bytes, this one ${seed.byteLength}`,
      { path: "seed" },
    );
  }
  const draw = seed === null ? fromHost() : fromSeed(seed, path);
  const machineId = uuid(draw("machine-id", 16)).replaceAll("-", "");
  return {
    generationId: draw("generation-id", 16),
    entropy: draw("entropy", ENTROPY_BYTES),
    generation: uuid(draw("generation", 16)),
    hostname: `m-${machineId.slice(0, 8)}`,
    machineId,
    bootId: uuid(draw("boot-id", 16)),
    mac: macAddress(draw("mac", 6)),
    ip: ipAddress(draw("ip", 3)),
    childSeed: seed === null ? null : draw("child-seed", SEED_BYTES),
  };
}

/** Pieces of one draw from the host's generator: a draw for each value would be dearer than all the rest of a fork. */
function fromHost(): Draw {
  const pool = randomBytes(DRAWN_BYTES);
  let at = 0;
  return (_label, length) => pool.subarray(at, (at += length));
}

function fromSeed(seed: Uint8Array, path: string): Draw {
  return (label, length) =>
    new Uint8Array(hkdfSync("sha256", seed, `shinken.fork.v1/${path}`, label, length));
}

/** Formats 16 bytes as a version 4 UUID (RFC 9562): version and variant bits are set, the rest is kept. */
function uuid(bytes: Uint8Array): string {
  const octets = Uint8Array.from(bytes);
  octets[6] = ((octets[6] ?? 0) & 0x0f) | 0x40;
  octets[8] = ((octets[8] ?? 0) & 0x3f) | 0x80;
  const hex = Buffer.from(octets).toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** Never the network's own address or its broadcast address. */
function ipAddress(bytes: Uint8Array): string {
  const host = (Buffer.from(bytes).readUIntBE(0, 3) % (2 ** 24 - 2)) + 1;
  return `10.${host >> 16}.${(host >> 8) & 255}.${host & 255}`;
}

/** The six bytes of an address as `mac` writes it. */
export function macBytes(mac: string): Uint8Array {
  return Uint8Array.from(mac.split(":"), (octet) => Number.parseInt(octet, 16));
}

function macAddress(bytes: Uint8Array): string {
  const octets = Uint8Array.from(bytes);
  octets[0] = ((octets[0] ?? 0) & 0xfe) | 0x02;
  return Array.from(octets, (octet) => octet.toString(16).padStart(2, "0")).join(":");
}
