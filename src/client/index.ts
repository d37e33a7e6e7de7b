export { type ClientOptions, type CreateOptions, connect, ShinkenClient } from "./client.js";
export { type EpisodeNotice, RemoteEpisode, RemoteRollout, type RolloutOptions } from "./rollout.js";
export { type BranchOptions, RemoteSession, type SessionNotice } from "./session.js";
