/** What a model has read and written so far, whatever the dialect. Values are never changed, only replaced. */

/** A call of a tool, as the model wrote it. */
export interface Call {
  id: string;
  name: string;
  /** JSON, or what the model took for it. */
  arguments: string;
}

/** One reply and what came of it. */
export interface Exchange {
  content: string;
  calls: readonly Call[];
  /** One for each call; one in all where there are none, or where the dialect tells results together. */
  answers: readonly string[];
}

export interface Conversation {
  system: string;
  instruction: string;
  /** The oldest exchanges that were left out. */
  dropped: number;
  exchanges: readonly Exchange[];
}

/** Messages in the shape of OpenAI's chat API. */
export type ChatMessage =
  | { role: "system" | "user"; content: string }
  | { role: "assistant"; content: string | null; tool_calls?: WireCall[] }
  | { role: "tool"; content: string; tool_call_id: string };

export interface WireCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** The user's first message: the instruction, and that something was left out after it. */
export function openingOf({ instruction, dropped }: Conversation): string {
  if (dropped === 0) return instruction;
  return `${instruction}\n\n[${dropped} of your replies that followed here, and their results, were left out to save room.]`;
}

const droppedNote =
  /\n\n\[(\d+) of your replies that followed here, and their results, were left out to save room\.\]$/;

/** Reads `openingOf` back. */
export function readOpening(text: string): Pick<Conversation, "instruction" | "dropped"> {
  const note = droppedNote.exec(text);
  if (note === null) return { instruction: text, dropped: 0 };
  return { instruction: text.slice(0, note.index), dropped: Number(note[1]) };
}
