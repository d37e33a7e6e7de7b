/** Assertions whose expected values have been fetched: what is left is plain data and a pure function. */
import type { GroundDate } from "./date/judge.js";
import type { GroundQuantity } from "./quantity/judge.js";
import type { Cell, Judgement, Picture } from "../value.js";
import type {
  BytesAssertion,
  FileAssertion,
  ImageAssertion,
  Json,
  JsonAssertion,
  ListAssertion,
  NumberAssertion,
  SetAssertion,
  TableAssertion,
  TextAssertion,
} from "./schema.js";

type Item = string | number;

export type GroundText = Omit<TextAssertion, "equals" | "lines"> & { equals?: string; lines?: string[] };
export type GroundNumber = Omit<NumberAssertion, "equals"> & { equals?: number };
export type GroundJson = Omit<JsonAssertion, "equals" | "subset"> & {
  equals?: { value: Json };
  subset?: { value: Json };
};
export type GroundTable = Omit<TableAssertion, "rows"> & { rows?: Cell[][] };
export type GroundFile = Omit<FileAssertion, "sha256"> & { sha256?: string };
export type GroundList = Omit<ListAssertion, "equals"> & { equals?: Item[] };
export type GroundSet = Omit<SetAssertion, "equals"> & { equals?: Item[] };
export type GroundBytes = Omit<BytesAssertion, "equals"> & { equals?: Uint8Array };

export type GroundImage = Omit<ImageAssertion, "equals" | "similar"> & {
  equals?: Picture;
  similar?: Picture;
};

export type GroundAssertion =
  | GroundText
  | GroundNumber
  | GroundJson
  | GroundTable
  | GroundFile
  | GroundList
  | GroundSet
  | GroundBytes
  | GroundQuantity
  | GroundDate
  | GroundImage;

/** Puts the demands of one assertion together: all must hold, the weakest decides. */
export class Demands {
  private readonly parts: Judgement[] = [];

  /** Adds a demand that holds or does not. */
  add(holds: boolean, evidence: string): void {
    this.parts.push({ score: holds ? 1 : 0, evidence });
  }

  /** Adds a demand that holds to a degree. */
  addScore(score: number, evidence: string): void {
    this.parts.push({ score, evidence });
  }

  /** The weakest demand's score; its evidence first if something is amiss. */
  judge(): Judgement {
    const score = Math.min(...this.parts.map((part) => part.score));
    const telling = score === 1 ? this.parts : this.parts.filter((part) => part.score < 1);
    return { score, evidence: telling.map((part) => part.evidence).join("; ") };
  }
}
