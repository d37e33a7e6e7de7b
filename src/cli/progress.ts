/** Progress of long stages on standard error: a bar on a terminal, plain lines elsewhere. */
import { SingleBar } from "cli-progress";

/** Lines of a stage that is not on a terminal come at most so often, milliseconds. */
const lineEveryMs = 5000;

export class Stage {
  private readonly name: string;
  private readonly began = performance.now();
  private bar: SingleBar | undefined;
  private lastLine = 0;

  constructor(name: string) {
    this.name = name;
    if (!process.stderr.isTTY) process.stderr.write(`== ${name}\n`);
  }

  /** `done` of `total` in any unit; `text` says what is being done. */
  update(done: number, total: number, text = ""): void {
    if (process.stderr.isTTY) {
      this.bar ??= this.startBar(total);
      this.bar.setTotal(Math.max(total, 1));
      this.bar.update(done, { text: text.slice(0, 48) });
      return;
    }
    const now = performance.now();
    if (now - this.lastLine < lineEveryMs && done < total) return;
    this.lastLine = now;
    const share = total > 0 ? ` ${Math.floor((done / total) * 100)} %` : "";
    process.stderr.write(`   ${this.name}:${share} ${text}\n`);
  }

  /** The stage had nothing to do. */
  cached(): void {
    this.finish("cached");
  }

  /** Ends the stage with what came of it, or with the time that it took. */
  end(result?: string): void {
    const seconds = ((performance.now() - this.began) / 1000).toFixed(1);
    this.finish(result === undefined ? `${seconds} s` : `${result} (${seconds} s)`);
  }

  private finish(result: string): void {
    this.bar?.stop();
    process.stderr.write(
      process.stderr.isTTY ? `== ${this.name}: ${result}\n` : `== ${this.name}: ${result}\n`,
    );
  }

  private startBar(total: number): SingleBar {
    const bar = new SingleBar({
      format: `== ${this.name} [{bar}] {percentage} % {text}`,
      stream: process.stderr,
      clearOnComplete: true,
      hideCursor: true,
    });
    bar.start(Math.max(total, 1), 0, { text: "" });
    return bar;
  }
}
