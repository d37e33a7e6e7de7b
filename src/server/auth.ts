/** Who may connect: a bearer token in the upgrade request, and no web page that we did not allow. */
import { createHash, timingSafeEqual } from "node:crypto";
import { isIP } from "node:net";
import { ShinkenError } from "../errors/index.js";

/** Shortest token that we accept as one. */
const minimumTokenLength = 16;

/** True for addresses that only this host can reach. */
export function isLoopback(host: string): boolean {
  if (host === "localhost" || host === "::1") return true;
  return isIP(host) === 4 && host.startsWith("127.");
}

/** Throws `unauthorized` if the address needs a token and has none, or the token is too short to be one. */
export function assertAddressAllowed(host: string, token: string | undefined): void {
  if (token === undefined) {
    if (isLoopback(host)) return;
    throw new ShinkenError(
      "unauthorized",
      `${host} can be reached by others, so a bearer token is required`,
      {
        suggestion: "set SHINKEN_TOKEN, or give --token-file FILE",
      },
    );
  }
  if (token.length < minimumTokenLength || /\s/.test(token)) {
    throw new ShinkenError("unauthorized", "the bearer token is too short, or holds white space", {
      suggestion: `use at least ${minimumTokenLength} characters, e.g. from 'openssl rand -hex 32'`,
    });
  }
}

/** True if the `Authorization` header carries the token. Takes the same time whatever the header says. */
export function bearerMatches(header: string, token: string | undefined): boolean {
  if (token === undefined) return true;
  const given = /^Bearer (.*)$/i.exec(header)?.[1] ?? "";
  return secretsEqual(given, token);
}

/** Compares two secrets of any length in constant time. */
export function secretsEqual(a: string, b: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/**
 * Browsers send an `Origin` with every WebSocket, other clients send none: without this check any page that somebody
 * opens could drive a server on loopback.
 */
export function originAllowed(origin: string, allowed: readonly string[]): boolean {
  return origin === "" || allowed.includes(origin);
}
