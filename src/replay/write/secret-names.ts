/** Names of fields, options and variables that hold credentials. */

/** Fields that hold a credential, whatever they lie in. Compared without case, hyphens and underscores. */
const secretFields = new Set(
  [
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "client-secret",
    "api-key",
    "x-api-key",
    "access-key",
    "secret-key",
    "access-token",
    "refresh-token",
    "id-token",
    "auth-token",
    "bearer-token",
    "private-key",
    "token",
  ].map(plainName),
);

/** Names of variables whose values are taken for secret though nobody marked them. */
export const secretVariable =
  /(^|_)(TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|API_?KEY|ACCESS_KEY|PRIVATE_KEY|AUTH|COOKIE)(_|$)/i;

/** Ends of fields' names of the same kind, as `openai_api_key`; not just any token, nor any secret. */
const secretEnd =
  /(password|passphrase|(api|access|secret|private)key|(api|access|refresh|id|auth|bearer|session)token|clientsecret)$/;

/** Whether a field, an option or a parameter of that name holds a credential. */
export function namesSecret(name: string): boolean {
  const plain = plainName(name);
  return secretFields.has(plain) || secretEnd.test(plain);
}

/** Without case, hyphens and underscores. */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, "");
}
