/** How far a job of several queries has come: told by the thread that runs it and read by the one that waits, in shared memory. */
const BEGUN = 0;
const STOP = 1;

export class Progress {
  private readonly cells: Int32Array;

  /** `shared`: of another thread's `Progress`. */
  constructor(shared: SharedArrayBuffer = new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)) {
    this.cells = new Int32Array(shared);
  }

  get shared(): SharedArrayBuffer {
    return this.cells.buffer as SharedArrayBuffer;
  }

  /** Index of the query that is being answered; -1 before the first and after the last. */
  get at(): number {
    return Atomics.load(this.cells, BEGUN) - 1;
  }

  goTo(index: number): void {
    Atomics.store(this.cells, BEGUN, index + 1);
  }

  finish(): void {
    Atomics.store(this.cells, BEGUN, 0);
  }

  get stopped(): boolean {
    return Atomics.load(this.cells, STOP) !== 0;
  }

  /** No further query is to be begun. */
  stop(): void {
    Atomics.store(this.cells, STOP, 1);
  }
}
