/** Exit codes of every command, save those that say otherwise in their help. */
export const exitCodes = {
  ok: 0,
  /** The command worked, and its answer is no: a gate failed, a check did not pass. */
  failed: 1,
  /** The command line or a file that it names is wrong. */
  usage: 2,
  /** Something outside is missing or broke: the image, the network, a machine. */
  infrastructure: 3,
  /** Somebody ended it (Ctrl-C); what was done by then is kept. 128 and the number of SIGINT, as shells have it. */
  interrupted: 130,
} as const;

/** Of `replay verify`: an episode was recorded on machines of another ABI or image, which no machine here can repeat. */
export const otherMachine = 4;
