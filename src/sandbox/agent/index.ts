/** The host's side of docs/agent-protocol.md. */
export { AgentClient, type AgentClientOptions, type AgentHello } from "./client.js";
export { type ExecExtras, inputHighWater } from "./command.js";
export { AgentDialogue } from "./dialogue.js";
export { GuestError } from "./failures.js";
export { decodeFrame, encodeFrame, type Frame, FrameSplitter } from "./frame.js";
export type { ExchangeOptions } from "./link.js";
export { AgentStream } from "./stream.js";
export type { AgentPort, AgentTransport, ExchangeLimits, ExchangeRequest } from "./transport.js";
export { type ForkAcknowledgement, type ForkPacket, RepeatedError } from "./uniqueness.js";
