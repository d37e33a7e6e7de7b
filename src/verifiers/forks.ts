/** The grading forks of one verdict, and their one owner. */
import { ShinkenError } from "../errors/index.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import { MachineView } from "./view.js";

export class Forks {
  private readonly fork: () => Promise<Sandbox>;
  private readonly open = new Set<Promise<MachineView>>();
  private common: Promise<MachineView> | undefined;
  private ended = false;

  constructor(fork: () => Promise<Sandbox>) {
    this.fork = fork;
  }

  /** The fork that the verdict's checks share; taken when first asked for. */
  shared(): Promise<MachineView> {
    this.common ??= this.take();
    return this.common;
  }

  /** A fork for one check alone. */
  own(): Promise<MachineView> {
    return this.take();
  }

  /** Gives up a fork that no longer answers: the next check that needs the shared one gets another. */
  retire(view: Promise<MachineView>): void {
    if (this.common === view) this.common = undefined;
    void this.close(view);
  }

  /** Closes one fork. */
  async close(view: Promise<MachineView>): Promise<void> {
    if (!this.open.delete(view)) return;
    const taken = await view.catch(() => undefined);
    // A fork that fails to close is its provider's to report; the verdict stands.
    await taken?.sandbox.close().catch(() => undefined);
  }

  /** Closes every fork, also those still being taken. Whoever asks for one from now on is refused: nobody would close it. */
  async closeAll(): Promise<void> {
    this.ended = true;
    this.common = undefined;
    await Promise.all([...this.open].map((view) => this.close(view)));
  }

  private take(): Promise<MachineView> {
    const view = Promise.resolve()
      .then(() => {
        if (this.ended) throw new ShinkenError("cancelled", "the evaluation has ended");
        return this.fork();
      })
      .then((sandbox) => new MachineView(sandbox));
    this.open.add(view);
    return view;
  }
}
