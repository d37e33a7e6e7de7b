/** Laws of single scorers. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { text, share, tree, faithful, strict } from "./inputs.js";

describe("other laws", () => {
  const points = fc.array(
    fc
      .integer({ min: 1, max: 4 })
      .chain((total) => fc.tuple(fc.integer({ min: 0, max: total }), fc.constant(total))),
    { minLength: 1, maxLength: 5 },
  );

  it("a bonus never pays less than the plain sum, and never more than all", () => {
    fc.assert(
      fc.property(
        points,
        fc.constantFrom("bonus_for_completing_any", "bonus_for_completing_final"),
        (checkpoints, strategy) => {
          const of = (name: string): { result: number; total: number } =>
            faithful("tac.strategy", { strategy: name, checkpoints }) as { result: number; total: number };
          expect(of(strategy).result).toBeGreaterThanOrEqual(of("default").result);
          expect(of(strategy).result).toBeLessThanOrEqual(of(strategy).total);
        },
      ),
    );
  });

  it("more points never score less", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.nat({ max: 49 }), (total, result) => {
        const credit = (earned: number): number =>
          faithful("tac.credit", { total, result: earned }) as number;
        if (result < total) expect(credit(result + 1)).toBeGreaterThan(credit(result));
      }),
    );
  });

  it("a better child never lowers a tree, and a failed critical child empties it", () => {
    fc.assert(
      fc.property(tree, fc.nat(), share, ({ strategy, children }, at, better) => {
        const score = faithful("mind2web2.tree", { strategy, children }) as number;
        expect(score).toBeGreaterThanOrEqual(0);
        expect(score).toBeLessThanOrEqual(1);
        if (children.length === 0) return;
        const index = at % children.length;
        const raised = children.map(([value, kind], place) => [
          place === index ? Math.max(value, better) : value,
          kind,
        ]);
        expect(faithful("mind2web2.tree", { strategy, children: raised })).toBeGreaterThanOrEqual(
          score - 1e-12,
        );
        const failed = children.map(([value, kind], place) =>
          place === index ? [0, "critical"] : [value, kind],
        );
        expect(faithful("mind2web2.tree", { strategy, children: failed })).toBe(0);
      }),
    );
  });

  it("a tree of trees scores as its parts would; what is critical must be so all the way down", () => {
    const parallel = (...children: unknown[]): unknown =>
      faithful("mind2web2.tree", { strategy: "parallel", children });
    const soft = {
      strategy: "sequential",
      children: [
        [1, "soft"],
        [0.5, "soft"],
        [1, "soft"],
      ],
    };
    const critical = {
      strategy: "parallel",
      children: [
        [1, "critical"],
        [0.5, "critical"],
      ],
    };
    expect(parallel([soft, "soft"], [1, "soft"])).toBe(0.75);
    expect(parallel([critical, "critical"], [1, "soft"])).toBe(0);
    expect(parallel()).toBe(0);
    expect(parallel([soft, "critical"])).toMatch(/^ValueError/);
  });

  it("an operation agrees with itself, and agreement is symmetric", () => {
    fc.assert(
      fc.property(text, text, (pred, label) => {
        for (const score of [faithful, strict]) {
          expect(score("mind2web.operation_f1", { pred, label: pred })).toBe(1);
          expect(score("mind2web.operation_f1", { pred, label })).toBeCloseTo(
            score("mind2web.operation_f1", { pred: label, label: pred }) as number,
            12,
          );
        }
      }),
    );
  });

  it("a task of Mind2Web succeeds only if every step does", () => {
    const step = (element: string, operation: string): unknown => ({
      element,
      operation,
      elements: ["e"],
      label: "CLICK",
    });
    const tasks = [
      { steps: [step("e", "CLICK"), step("e", "CLICK")] },
      {
        steps: [
          step("e", "CLICK"),
          step("x", "CLICK"),
          step("e", "TYPE"),
          { element: null, operation: "", elements: ["e"], label: "" },
        ],
      },
    ];
    expect(faithful("mind2web.steps", { tasks })).toEqual({
      element_accuracy: 4 / 6,
      operation_f1: 4 / 6,
      step_success: 3 / 6,
      task_success: 1 / 2,
      macro: {
        element_accuracy: (1 + 2 / 4) / 2,
        operation_f1: (1 + 2 / 4) / 2,
        step_success: (1 + 1 / 4) / 2,
      },
    });
  });

  it("a reward is found where HUD looks for it, in its order", () => {
    const reward = (input: unknown): unknown => strict("hud.reward", input);
    expect(reward({ structured: { score: 0.2, reward: 0.5 } })).toBe(0.5);
    expect(reward({ structured: { subscores: { a: 1, b: 0.5 }, weights: { a: 0.5, b: 0.5 } } })).toBe(0.75);
    expect(reward({ texts: ["no", '{"grade": 0.25, "reward": 1}'] })).toBe(0.25);
    expect(reward({ structured: { reward: "1" } })).toBe("NoReward the reward is no number from 0 to 1");
    expect(faithful("hud.reward", { structured: { reward: "1" } })).toBe("1");
  });
});
