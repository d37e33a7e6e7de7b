/** Machines on one switch of the monitor's. */
import { ShinkenError } from "../../errors/index.js";
import type { Network } from "../sandbox.js";
import { loadAddon } from "./addon.js";
import type { MicrovmSandbox } from "./sandbox.js";
import { nativeError } from "./transport.js";
import { Turns } from "./turns.js";

/** Ports of a switch. */
const MAX_MEMBERS = 16;

export class MicrovmNetwork implements Network {
  readonly members: readonly MicrovmSandbox[];
  readonly #turns: Turns;
  #closing: Promise<void> | null = null;

  private constructor(members: readonly MicrovmSandbox[], turns: Turns) {
    this.members = members;
    this.#turns = turns;
  }

  /**
   * Joins machines once what was asked of each of them before is done.
   * @throws ShinkenError `bad_request` (too few, too many, one twice, a grade fork, one that is joined already),
   * `machine_closed`.
   */
  static async join(members: readonly MicrovmSandbox[]): Promise<MicrovmNetwork> {
    check(members);
    const former = members.map((member) => member.turns);
    const turns = new Turns();
    const network = new MicrovmNetwork([...members], turns);
    const joined = turns.take(async () => {
      await Promise.all(former.map((one) => one.idle()));
      loadAddon().joinMachines(members.map((member) => member.native));
    });
    // From now on they are asked one at a time, whichever is asked.
    for (const member of members) [member.turns, member.network] = [turns, network];
    try {
      await joined;
    } catch (cause) {
      network.#release(joined);
      throw nativeError(cause);
    }
    return network;
  }

  close(): Promise<void> {
    if (this.#closing === null) {
      this.#closing = this.#turns.take(() => {
        for (const member of this.members) if (!member.closed) member.native.part();
        return Promise.resolve();
      });
      this.#release(this.#closing);
    }
    return this.#closing;
  }

  /** Gives each member turns of its own again, which begin when `end` has settled. */
  #release(end: Promise<unknown>): void {
    for (const member of this.members) {
      [member.turns, member.network] = [new Turns(), null];
      void member.turns.take(() => end).catch(() => undefined);
    }
  }
}

function check(members: readonly MicrovmSandbox[]): void {
  const refuse = (message: string, suggestion?: string): never => {
    throw new ShinkenError("bad_request", message, { path: "sandboxes", suggestion });
  };
  if (members.length < 2 || members.length > MAX_MEMBERS || new Set(members).size < members.length) {
    refuse(`a switch joins 2 to ${MAX_MEMBERS} different machines`);
  }
  for (const member of members) {
    if (member.closed) throw new ShinkenError("machine_closed", `machine ${member.id} was closed`);
    if (member.descent.kind === "grade") refuse(`${member.id} is a grade fork, which reaches nobody`);
    if (member.network !== null)
      refuse(`${member.id} is on a switch already`, "close its network first, or join all at once");
  }
}
