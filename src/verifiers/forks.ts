/** The grading forks of one verdict, and their one owner. */
import { ShinkenError } from "../errors/index.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import { MachineView } from "./view.js";

export class Forks {
  private readonly fork: (machine?: string) => Promise<Sandbox>;
  private readonly open = new Set<Promise<MachineView>>();
  /** The shared fork of each machine; the agent's has no name. */
  private readonly common = new Map<string | undefined, Promise<MachineView>>();
  private ended = false;

  constructor(fork: (machine?: string) => Promise<Sandbox>) {
    this.fork = fork;
  }

  /** The fork that the verdict's checks of one machine share; taken when first asked for. */
  shared(machine?: string): Promise<MachineView> {
    const known = this.common.get(machine);
    if (known !== undefined) return known;
    const taken = this.take(machine);
    this.common.set(machine, taken);
    return taken;
  }

  /** A fork for one check alone. */
  own(machine?: string): Promise<MachineView> {
    return this.take(machine);
  }

  /** Gives up a fork that no longer answers: the next check that needs the shared one gets another. */
  retire(view: Promise<MachineView>): void {
    for (const [machine, one] of this.common) if (one === view) this.common.delete(machine);
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
    this.common.clear();
    await Promise.all([...this.open].map((view) => this.close(view)));
  }

  private take(machine?: string): Promise<MachineView> {
    const view = Promise.resolve()
      .then(() => {
        if (this.ended) throw new ShinkenError("cancelled", "the evaluation has ended");
        return this.fork(machine);
      })
      .then((sandbox) => new MachineView(sandbox));
    this.open.add(view);
    return view;
  }
}
