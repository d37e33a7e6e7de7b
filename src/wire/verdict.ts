/** The wire writes names with underscores, as all its messages do; inside, verdicts have the names of TypeScript. */

interface Inside {
  taskVersion: string;
  verifierVersion: string;
}

interface Outside {
  task_version: string;
  verifier_version: string;
}

export type WireVerdict<V extends Inside> = Omit<V, keyof Inside> & Outside;

export function toWireVerdict<V extends Inside>(verdict: V): WireVerdict<V> {
  const { taskVersion, verifierVersion, ...rest } = verdict;
  return { task_version: taskVersion, verifier_version: verifierVersion, ...rest };
}

export function fromWireVerdict<V extends Inside>(verdict: WireVerdict<V>): V {
  const { task_version: taskVersion, verifier_version: verifierVersion, ...rest } = verdict;
  return { taskVersion, verifierVersion, ...rest } as unknown as V;
}
