/** Console lines kept for an error's message. */
const keptLines = 40;
/** Longest console line that is kept whole; the guest could print without end. */
const maxLine = 4096;

/**
 * Reads the console of a finishing boot: lines that start with `@finish` are its report (guest/init.sh), dpkg's
 * "Setting up" lines are progress, the rest is kept for the error message.
 */
export class FinishingConsole {
  private partial = "";
  private readonly recent: string[] = [];
  private readonly onStep: (text: string, configured: number) => void;
  private configured = 0;
  /** Sum of the disk's first block as the guest read it back; undefined until it has finished. */
  headSha256: string | undefined;
  failure: string | undefined;
  /** Whether the guest's kernel said that its disk refused a write; the guest's own cache may hide that from it. */
  diskFault = false;
  /** Guest seconds at which each stage began, by name. */
  readonly stages = new Map<string, number>();

  constructor(onStep: (text: string, configured: number) => void) {
    this.onStep = onStep;
  }

  write(text: string): void {
    const lines = (this.partial + text).split("\n");
    this.partial = (lines.pop() ?? "").slice(0, maxLine);
    for (const line of lines) this.line(line.slice(0, maxLine).replace(/\r$/, ""));
  }

  /** The last lines, for a message. */
  tail(): string {
    return [...this.recent, this.partial]
      .filter((line) => line !== "")
      .slice(-12)
      .join("\n");
  }

  private line(line: string): void {
    this.recent.push(line);
    if (this.recent.length > keptLines) this.recent.shift();
    const report = /^@finish (stage|done|fail) (.*?)(?: @([\d.]+))?$/.exec(line);
    if (report !== null) {
      const [, kind, rest = "", uptime] = report;
      if (kind === "done" && /^[0-9a-f]{64}$/.test(rest)) this.headSha256 = rest;
      if (kind === "fail") this.failure = rest;
      if (kind === "stage") this.onStep(rest, this.configured);
      if (uptime !== undefined) this.stages.set(kind === "stage" ? rest : (kind ?? ""), Number(uptime));
      return;
    }
    // Linux, block/blk-core.c and blk-mq.c: "I/O error, dev vda, sector 8 op 0x1:(WRITE) flags ...".
    if (/\bI\/O error, dev vda\b/.test(line)) this.diskFault = true;
    const setup = /^Setting up (\S+)/.exec(line);
    if (setup !== null) {
      this.configured += 1;
      this.onStep(setup[1] ?? "", this.configured);
    }
  }
}
