/** A check took longer than it may. Never a score, whatever `on_error` says. */
export class DeadlinePassed extends Error {
  override readonly name = "DeadlinePassed";
}
