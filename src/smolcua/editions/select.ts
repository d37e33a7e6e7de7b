/** How a smaller edition is chosen from a larger one: by rules that anybody can follow again, never by looking at content. */
import { createHash } from "node:crypto";
import type { Question } from "../questions/types.js";
import type { Items } from "./source.js";

/** The rank of a position: lower ones are chosen first. In hex. */
export function rankOf(edition: string, { category, format, position }: Question): string {
  return createHash("sha256").update(`${edition}\0${category}\0${format}\0${position}`).digest("hex");
}

/** Keeps `perStratum` positions of each category and response format, by rank in pass 1, in all passes. */
export function selectPositions(items: Items, edition: string, perStratum: number): Items {
  const first = items.questions.filter(({ pass }) => pass === 1);
  const strata = grouped(first, ({ category, format }) => `${category} ${format}`);
  const chosen = new Set<string>();
  for (const questions of strata.values()) {
    const ranked = questions.map((question) => ({ question, rank: rankOf(edition, question) }));
    ranked.sort((a, b) => (a.rank < b.rank ? -1 : 1));
    for (const { question } of ranked.slice(0, perStratum)) chosen.add(placeOf(question));
  }
  return keep(items, (question) => chosen.has(placeOf(question)));
}

/** Keeps the first passes, exactly as they are. */
export function selectPasses(items: Items, passes: number): Items {
  return keep(items, ({ pass }) => pass <= passes);
}

const placeOf = ({ category, format, position }: Question): string => `${category} ${format} ${position}`;

function keep({ questions, keys }: Items, wanted: (question: Question) => boolean): Items {
  const kept = questions.filter(wanted);
  const ids = new Set(kept.map(({ id }) => id));
  return { questions: kept, keys: keys.filter(({ id }) => ids.has(id)) };
}

/** Questions that share a name, which a function gives them. */
export function grouped<Name>(
  questions: readonly Question[],
  nameOf: (question: Question) => Name,
): Map<Name, Question[]> {
  const groups = new Map<Name, Question[]>();
  for (const question of questions) {
    const name = nameOf(question);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [question]);
    else group.push(question);
  }
  return groups;
}
