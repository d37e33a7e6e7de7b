/** Every bound of the actions, in one place. Times are guest time, sizes are of what an agent may send or is shown. */
export const aciLimits = {
  /** Actions of one step. */
  actionsPerStep: 64,
  /** Characters of one text field of an observation, unless the action asks for another number. */
  defaultChars: 16_000,
  /** The most an action may ask for. */
  maxChars: 1_000_000,
  /** Bytes of each output stream that the guest keeps; what is beyond is counted. */
  outputBytes: 4 * 1024 * 1024,
  defaultTimeoutS: 120,
  maxTimeoutS: 3_600,
  maxWaitS: 3_600,
  /** Bytes of a command line, a standard input or a file that an action may carry. */
  inputBytes: 8 * 1024 * 1024,
  /** One argument of a command; Linux refuses an argument above 128 KiB. */
  argumentBytes: 131_071,
  arguments: 4_096,
  environmentEntries: 256,
  pathBytes: 4_096,
  /** Largest file that `edit_file` changes. */
  editBytes: 8 * 1024 * 1024,
  /** How far into a file `read_file` looks for a line. */
  scanBytes: 64 * 1024 * 1024,
  scanChunkBytes: 1024 * 1024,
  answerChars: 65_536,
  reasonChars: 4_096,
} as const;
