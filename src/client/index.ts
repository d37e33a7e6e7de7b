export { type ClientOptions, type CreateOptions, connect, ShinkenClient } from "./client.js";
export { type BranchOptions, RemoteSession, type SessionNotice } from "./session.js";
