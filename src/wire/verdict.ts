/** The wire writes names with underscores, as all its messages do; inside, verdicts have the names of TypeScript. */

interface Inside {
  taskVersion: string;
  verifierVersion: string;
  judgedOnly?: true | undefined;
}

interface Outside {
  task_version: string;
  verifier_version: string;
  /** No program stands behind it. */
  judged_only?: true;
}

export type WireVerdict<V extends Inside> = Omit<V, keyof Inside> & Outside;

export function toWireVerdict<V extends Inside>(verdict: V): WireVerdict<V> {
  const { taskVersion, verifierVersion, judgedOnly, ...rest } = verdict;
  return {
    task_version: taskVersion,
    verifier_version: verifierVersion,
    ...(judgedOnly === true ? { judged_only: true } : {}),
    ...rest,
  };
}

export function fromWireVerdict<V extends Inside>(verdict: WireVerdict<V>): V {
  const {
    task_version: taskVersion,
    verifier_version: verifierVersion,
    judged_only: judgedOnly,
    ...rest
  } = verdict;
  const marked = judgedOnly === true ? { judgedOnly } : {};
  return { taskVersion, verifierVersion, ...marked, ...rest } as unknown as V;
}
