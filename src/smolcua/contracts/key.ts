/** Keys: what belongs to a contract, and the answer that says it. */
import { ShinkenError } from "../../errors/index.js";
import { parseOrThrow } from "../../errors/parse.js";
import { markOf } from "../scorer/forms.js";
import { grade } from "../scorer/grade.js";
import { exactOf, writeJson } from "../scorer/strict-json.js";
import { trimOuter } from "../scorer/white-space.js";
import { type Contract, type ContractOf, type KeyOf, keySchemas, placeNames } from "./schema.js";

type Writer<Kind extends Contract["kind"]> = (key: KeyOf<Kind>, contract: ContractOf<Kind>) => string;

const writers: { [Kind in Contract["kind"]]: Writer<Kind> } = {
  letter: (key) => key,
  choice: (key) => key,
  literal: (key) => key,
  quoted: (key, { open, close }) => `${open}${key}${close}`,
  json: (key) => writeJson(exactOf(key)),
  tsv: (key) => key.map((row) => row.join("\t")).join("\n"),
  pairs: (key, { names, separator }) =>
    names.map((name) => `${name}${separator}${key[name] ?? ""}`).join("\n"),
  lines: (key) => key.join("\n"),
  list: (key, { mark }) => key.map((item, at) => `${markOf(mark, at + 1)}${item}`).join("\n"),
  coordinates: (key, { template }) =>
    placeNames(template).reduce((text, name) => text.replace(`{${name}}`, String(key[name])), template),
};

/** The answer that says the key in the contract's form. */
export function referenceAnswer(contract: Contract, key: unknown): string {
  const write = writers[contract.kind] as (key: unknown, contract: Contract) => string;
  return write(key, contract);
}

/**
 * Refuses a key that does not belong to its contract, or that no answer can say: one that the outer trim would damage, that has
 * fewer cells than the contract, and so on.
 * @throws ShinkenError `bad_request`
 */
export function checkKey(contract: Contract, key: unknown, root: readonly PropertyKey[] = ["key"]): void {
  parseOrThrow(keySchemas[contract.kind], key, "bad_request", root);
  checkNames(contract, key, root);
  const answer = referenceAnswer(contract, key);
  const path = root.map(String).join(".");
  if (trimOuter(answer) !== answer)
    throw new ShinkenError(
      "bad_request",
      `${path}: an answer that says it would lose its outer white space`,
      {
        path,
        suggestion:
          "no first or last cell, line or text of a key may be empty or begin or end with white space",
      },
    );
  const { correct, reason } = grade(contract, key, answer);
  if (!correct)
    throw new ShinkenError("bad_request", `${path}: no answer can say it within its contract (${reason})`, {
      path,
      suggestion: "the key must have the rows, columns, lines, keys or places that its contract states",
    });
}

/** A key by name has the contract's names and no others. */
function checkNames(contract: Contract, key: unknown, root: readonly PropertyKey[]): void {
  const names =
    contract.kind === "pairs"
      ? contract.names
      : contract.kind === "coordinates"
        ? placeNames(contract.template)
        : null;
  if (names === null) return;
  const held = Object.keys(key as object);
  const stray = held.find((name) => !names.includes(name)) ?? names.find((name) => !held.includes(name));
  if (stray === undefined) return;
  const path = [...root, stray].map(String).join(".");
  throw new ShinkenError("bad_request", `${path}: the contract has the names ${names.join(", ")}`, { path });
}
