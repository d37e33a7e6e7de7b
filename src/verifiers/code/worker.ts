/** The thread of code nodes. */
import { runCode } from "./engine.js";

export default runCode;
