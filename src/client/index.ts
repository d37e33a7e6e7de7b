export { type ClientOptions, type CreateOptions, connect, ShinkenClient } from "./client.js";
export { RemoteSession, type SessionNotice } from "./session.js";
