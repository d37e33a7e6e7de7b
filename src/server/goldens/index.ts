/** Other nodes' way to the goldens of this one. A door of its own: it needs nothing of the environment server. */
export {
  type GoldenServer,
  type GoldenServerLimits,
  goldenServerLimits,
  type GoldenServerOptions,
  startGoldenServer,
} from "./server.js";
