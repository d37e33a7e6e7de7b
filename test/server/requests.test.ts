import { describe, expect, it } from "vitest";
import { ShinkenError } from "../../src/errors/index.js";
import { parseRequest } from "../../src/server/requests.js";

function refusal(message: unknown): ShinkenError {
  try {
    parseRequest(message);
  } catch (error) {
    if (error instanceof ShinkenError) return error;
    throw error;
  }
  throw new Error("the request was accepted");
}

describe("a request", () => {
  it("with a misspelt key names the key and the one that was meant", () => {
    const error = refusal({ id: 1, op: "step", sesion: "a", step: 1, actions: [{}] });
    expect(error).toMatchObject({
      code: "bad_request",
      path: "sesion",
      suggestion: 'did you mean "session"?',
    });
  });

  it("with a key too many names it and the nearest one", () => {
    const error = refusal({ id: 1, op: "reset", session: "a", sede: 4 });
    expect(error).toMatchObject({ code: "bad_request", path: "sede", suggestion: 'did you mean "seed"?' });
  });

  it("with an unknown operation is told the nearest one", () => {
    expect(refusal({ id: 1, op: "restet" })).toMatchObject({
      code: "unknown_op",
      path: "op",
      suggestion: 'did you mean "reset"?',
    });
  });

  it.each([
    [{ id: 1, op: "toString" }, "unknown_op", "op"],
    [{ id: 1, op: "__proto__" }, "unknown_op", "op"],
    [{ id: 1 }, "bad_request", "op"],
    [[], "bad_request", "(message)"],
    [null, "bad_request", "(message)"],
    ["hello", "bad_request", "(message)"],
    [{ op: "observe", session: "a" }, "bad_request", "id"],
    [{ id: -1, op: "observe", session: "a" }, "bad_request", "id"],
    [{ id: 1.5, op: "observe", session: "a" }, "bad_request", "id"],
    [{ id: "1", op: "observe", session: "a" }, "bad_request", "id"],
    [{ id: 1, op: "observe", session: "" }, "bad_request", "session"],
    [{ id: 1, op: "observe", session: "../etc" }, "bad_request", "session"],
    [{ id: 1, op: "observe", session: "a".repeat(65) }, "bad_request", "session"],
    [{ id: 1, op: "step", session: "a", step: 0, actions: [{}] }, "bad_request", "step"],
    [{ id: 1, op: "step", session: "a", step: 1, actions: {} }, "bad_request", "actions"],
    [{ id: 1, op: "step", session: "a", step: 1, actions: Array(65).fill({}) }, "bad_request", "actions"],
    [
      { id: 1, op: "step", session: "a", step: 1, actions: [{}], decision: { model: 5 } },
      "bad_request",
      "decision.model",
    ],
    [
      { id: 1, op: "step", session: "a", step: 1, actions: [{}], decision: { token_ids: [1, -1] } },
      "bad_request",
      "decision.token_ids[1]",
    ],
    [{ id: 1, op: "reset", session: "a", seed: -1 }, "bad_request", "seed"],
    [{ id: 1, op: "reset", session: "a", params: [] }, "bad_request", "params"],
    [{ id: 1, op: "list", what: "machines" }, "bad_request", "what"],
    [{ id: 1, op: "fork", session: "a", at_step: -1 }, "bad_request", "at_step"],
    [{ id: 1, op: "create", task: "a", checkpoints: true }, "bad_request", "checkpoints"],
    [
      { id: 1, op: "create", task: "a", checkpoints: { budget_mib: 0 } },
      "bad_request",
      "checkpoints.budget_mib",
    ],
    [{ id: 1, op: "create", task: "a", checkpoints: { budget: 1 } }, "bad_request", "checkpoints.budget"],
  ])("like %j is refused with %s at %s", (message, code, path) => {
    expect(refusal(message)).toMatchObject({ code, path });
  });

  it("that is right comes out as it went in", () => {
    const request = { id: 3, op: "step", session: "a", step: 1, actions: [{ type: "exec", argv: ["true"] }] };
    expect(parseRequest(request)).toEqual(request);
  });
});
