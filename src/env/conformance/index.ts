export { type CheckEnvOptions, type CheckEnvReport, checkEnv, hostTimeKeys } from "./check-env.js";
