/** Presentations of PowerPoint. */
import { afterAll, describe, it } from "vitest";
import { closePool } from "../../../../src/verifiers/index.js";
import { absent, json, office, TALK } from "./support.js";

afterAll(closePool);

describe("a presentation", () => {
  it("has the texts of its slides", async () => {
    await office(
      TALK,
      { kind: "slides" },
      { type: "list", equals: ["Welcome\nto the talk", "Numbers\nin bold\na\nb\nc\nd"] },
    );
    await office(TALK, { kind: "text" }, { type: "text", contains: "to the talk\fNumbers" });
  });
  it("has shapes with their places, those of a layout too", async () => {
    await office(
      TALK,
      { kind: "slide", slide: 1 },
      {
        type: "json",
        subset: { layout: "Title Slide", notes: "say hello", transition: null, hidden: false },
      },
    );
    await office(
      TALK,
      { kind: "slide", slide: 1 },
      {
        type: "json",
        path: "/shapes/0",
        subset: { placeholder: "ctrTitle", x: 685_800, y: 2_130_425, text: "Welcome" },
      },
    );
    await office(
      TALK,
      { kind: "slide", slide: 2 },
      { type: "json", path: "/shapes/1", subset: { name: "TextBox 2", x: 914_400, width: 2_743_200 } },
    );
    await office(
      TALK,
      { kind: "slide", slide: 2 },
      {
        type: "json",
        path: "/shapes/1/paragraphs/0/runs/0",
        subset: { text: "in bold", bold: true, size: 24, color: "0000FF" },
      },
    );
  });
  it("has pictures, tables, charts and transitions", async () => {
    await office(
      TALK,
      { kind: "slide", slide: 2 },
      { type: "json", path: "/shapes/2", subset: { kind: "picture", name: "Dot" } },
    );
    await json(TALK, { kind: "slide", slide: 2 }, "/shapes/3/rows", [
      ["a", "b"],
      ["c", "d"],
    ]);
    await office(
      TALK,
      { kind: "slide", slide: 2 },
      { type: "json", path: "/shapes/4/chart", subset: { types: ["pieChart"] } },
    );
    await json(TALK, { kind: "slide", slide: 2 }, "/transition", {
      type: "fade",
      speed: "slow",
      advance_after: 3_000,
    });
    await json(TALK, { kind: "slide", slide: 2 }, "/hidden", true);
  });
  it("lacks a slide beyond its last, which fails", () =>
    absent(TALK, { kind: "slide", slide: 3 }, " has 2 slides and no slide 3"));
});
