/** Who answers a judge node's questions. */
export interface JudgeMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string;
  /** Of an assistant that wants to look. */
  toolCalls?: JudgeToolCall[];
  /** Of a tool's answer. */
  toolCallId?: string;
}

export interface JudgeToolCall {
  id: string;
  name: string;
  /** JSON, as the model wrote it. */
  arguments: string;
}

export interface JudgeTool {
  name: string;
  description: string;
  /** JSON Schema of its arguments. */
  parameters: Record<string, unknown>;
}

export interface JudgeRequest {
  messages: JudgeMessage[];
  /** JSON Schema that the reply must satisfy. */
  schema: Record<string, unknown>;
  tools: JudgeTool[];
  /** Tells the judgements of a quorum apart. */
  seed: number;
}

export interface JudgeReply {
  /** Null where the model wants to look first. */
  content: string | null;
  toolCalls: JudgeToolCall[];
  /** The model as the endpoint names it. */
  model: string;
  promptTokens: number;
  completionTokens: number;
  /** US dollars, where the price is known. */
  cost: number | null;
}

export interface JudgeModel {
  /** The model asked for; a part of what a recorded reply belongs to. */
  readonly model: string;
  /** Rejects with `judge_failed` if no reply can be had. */
  ask(request: JudgeRequest, signal: AbortSignal): Promise<JudgeReply>;
}
