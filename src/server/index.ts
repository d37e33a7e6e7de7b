export { defaultLimits, type LimitOverrides, type ServerLimits } from "./limits.js";
export { type RunningServer, type ServerOptions, startServer } from "./server.js";
