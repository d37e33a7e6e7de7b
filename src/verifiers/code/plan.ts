/** A code node: its module in a thread of its own kind, its reads answered here. */
import { MessageChannel } from "node:worker_threads";
import { z } from "zod";
import { ShinkenError } from "../../errors/index.js";
import { parseOrThrow } from "../../errors/parse.js";
import { sha256 } from "../canonical.js";
import { type ChannelQuery, channelQuery, channels } from "../channels/schema.js";
import type { LeafAccess, LeafPlan } from "../leaf.js";
import type { CodeNode } from "../schema.js";
import { type Answer, ContentFault, type Judgement } from "../value.js";
import { runInPool } from "./pool.js";
import type { ReadReply, ReadRequest } from "./protocol.js";

/** Reads of one module. */
const READ_LIMIT = 1_000;
/** Characters of all answers to one module. */
const ANSWER_LIMIT = 64 * 1024 * 1024;

const resultSchema = z.union([
  z.strictObject({ score: z.number().min(0).max(1), evidence: z.string() }),
  z.strictObject({ ungraded: z.string().min(1) }),
]);

/** How a code node is evaluated. */
export function codePlan(node: CodeNode): LeafPlan {
  return {
    ahead: undefined,
    ownFork: node.code.channels.some((name) => !channels[name].onlyLooks),
    wantHash: true,
    work: (access) => grade(node, access),
  };
}

async function grade(node: CodeNode, access: LeafAccess): Promise<Judgement> {
  const { code } = node;
  const decoder = new TextDecoder();
  const sources = await Promise.all(
    access.modules.map(async (name) => [name, decoder.decode(await access.readAsset(name))] as const),
  );
  const { port1: ours, port2: theirs } = new MessageChannel();
  const reader = new Reader(node, access);
  ours.on("message", (request: ReadRequest) => {
    void reader.answer(request).then((reply) => ours.postMessage(reply));
  });
  try {
    const reply = await runInPool(
      {
        entry: code.module,
        modules: Object.fromEntries(sources),
        params: code.params,
        episode: access.episode,
        memoryMib: code.memory_mib,
        nowMs: Date.parse(code.now),
        seed: Number.parseInt(sha256(node.id).slice(0, 8), 16),
        port: theirs,
      },
      access.signal,
    );
    if ("content" in reply) throw new ContentFault(reply.content);
    if ("module" in reply) throw new ShinkenError("grader_error", `${code.module}: ${reply.module}`);
    return judgementOf(reply.value, code.module);
  } finally {
    ours.close();
  }
}

function judgementOf(text: string, module: string): Judgement {
  const result = resultSchema.safeParse(JSON.parse(text));
  if (!result.success) {
    const seen = text.length > 200 ? `${text.slice(0, 200)}...` : text;
    throw new ShinkenError(
      "grader_error",
      `${module}: returned ${seen}, not {score, evidence} with a score from 0 to 1, nor {ungraded: reason}`,
    );
  }
  if ("ungraded" in result.data) throw new ContentFault(result.data.ungraded);
  return result.data;
}

/** Answers what a module asks: typed queries of its own channels, bounded in number and size. */
class Reader {
  private reads = 0;
  private size = 0;

  private readonly node: CodeNode;
  private readonly access: LeafAccess;

  constructor(node: CodeNode, access: LeafAccess) {
    this.node = node;
    this.access = access;
  }

  /** Never rejects. */
  async answer({ number, query: text }: ReadRequest): Promise<ReadReply> {
    try {
      this.reads++;
      if (this.reads > READ_LIMIT) return { number, refused: `more than ${READ_LIMIT} reads` };
      const answer = await this.access.read(this.parse(text));
      const ok = JSON.stringify(plain(answer));
      this.size += ok.length;
      if (this.size > ANSWER_LIMIT) return { number, refused: `read more than ${ANSWER_LIMIT} characters` };
      return { number, ok };
    } catch (error) {
      if (error instanceof ContentFault) return { number, fault: error.message };
      return { number, refused: error instanceof Error ? error.message : String(error) };
    }
  }

  private parse(text: string): ChannelQuery {
    const query = parseOrThrow(channelQuery, JSON.parse(text), "grader_error", ["read"]);
    const { channels: allowed } = this.node.code;
    if (allowed.includes(query.channel)) return query;
    throw new ShinkenError(
      "grader_error",
      `the channel "${query.channel}" is not among the node's channels`,
      { suggestion: `it may read ${allowed.join(", ")}` },
    );
  }
}

/** The answer as JSON can hold it: bytes become base64. */
function plain(answer: Answer): unknown {
  if ("absent" in answer || answer.type !== "bytes") return answer;
  return { ...answer, value: Buffer.from(answer.value).toString("base64") };
}
