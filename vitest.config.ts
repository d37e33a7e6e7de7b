import { defineConfig } from "vitest/config";

/** Tests that keep a processor busy for a minute or more: they run after all others, one at a time. */
const alone = ["test/images/rebuild.test.ts"];

export default defineConfig({
  test: {
    testTimeout: 300_000,
    hookTimeout: 300_000,
    pool: "forks",
    globalSetup: "test/support/state-folder.ts",
    projects: [
      {
        extends: true,
        test: {
          name: "together",
          include: ["test/**/*.test.ts"],
          exclude: alone,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: "alone", include: alone, maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
});
