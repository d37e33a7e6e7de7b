/** A task whose grader computes for ever unless something stops it. */

/** A check whose command never ends within any test's patience. */
export function spinning(id: string, more: Record<string, unknown> = {}) {
  return {
    id,
    channel: "exec-json",
    query: { argv: ["/bin/sh", "-c", "while :; do :; done"], timeout_ms: 600_000 },
    assert: { type: "json", exists: true },
    on_error: "fail",
    deadline_ms: 600_000,
    ...more,
  };
}

/** The document of the task `endless`, with changes. */
export function endless(change: Record<string, unknown> = {}) {
  return {
    id: "endless",
    version: "1.0.0",
    instruction: "Nothing is to be done.",
    limits: { verify: { wall_seconds: 600, guest_seconds: 600 } },
    verify: {
      graph: {
        all: [
          {
            id: "first",
            channel: "fs",
            query: { kind: "text", path: "/etc/passwd" },
            assert: { type: "text", contains: "agent" },
          },
          spinning("spins"),
          {
            id: "after",
            channel: "exec-json",
            query: { argv: ["/bin/echo", "1"] },
            assert: { type: "json", equals: 1 },
          },
        ],
      },
    },
    oracle: [{ type: "done" }],
    ...change,
  };
}
