import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { blocksOf, blockWith, numberOf } from "../src/lib/cited";
import { coverage, isUncovered, sections } from "../src/lib/tutorial";
import { block, command, run, test } from "./records";

describe("coverage", () => {
  it("sorts commands with and without tests, and gaps", () => {
    const blocks = [
      block("a", { tests: ["t"] }),
      block("b"),
      block("c", { kind: "gap" }),
      block("d", { kind: "banner" }),
    ];
    const found = coverage(run({ tutorial: { file: "t.sh", blocks, statuses: {} } }));
    const ids = Object.values(found).map((each) => each.map((one: { id: string }) => one.id));
    assert.deepEqual(ids, [["a", "b"], ["b"], ["c"]]);
    assert.ok(isUncovered(block("x")) && !isUncovered(block("x", { kind: "gap" })));
  });

  it("is empty without a tutorial", () => {
    assert.deepEqual(coverage(run()), { commands: [], uncovered: [], gaps: [] });
  });
});

describe("sections", () => {
  it("begins one where the title changes, and at each banner", () => {
    const blocks = [
      block("a", { section: "One" }),
      block("b", { section: "One" }),
      block("c", { section: "Two" }),
      block("d", { section: "One" }),
      block("e", { section: "One", kind: "banner" }),
    ];
    const found = sections(blocks).map(({ title, blocks }) => [title, blocks.map((each) => each.id).join("")]);
    assert.deepEqual(found, [
      ["One", "ab"],
      ["Two", "c"],
      ["One", "d"],
      ["One", "e"],
    ]);
    assert.deepEqual(sections([]), []);
  });
});

describe("citations", () => {
  const blocks = [block("a", { text: "# About\n  jot add x\njot list" }), block("b", { text: "jot list" })];

  it("finds the blocks of a test, in the tutorial's order", () => {
    const shown = run({ tutorial: { file: "t.sh", blocks, statuses: {} } });
    const ids = (names: string[]) => blocksOf(shown, test("t", { blocks: names })).map((each) => each.id);
    assert.deepEqual(ids(["b", "gone", "a"]), ["a", "b"]);
    assert.deepEqual(ids([]), []);
    assert.deepEqual(blocksOf(run(), test("t", { blocks: ["a"] })), []);
  });

  it("leads from a command to its block and back", () => {
    assert.equal(blockWith(blocks, command(" jot add x\n"))?.id, "a");
    assert.equal(blockWith(blocks, command("jot list"))?.id, "a");
    assert.equal(blockWith(blocks, command("jot"))?.id, undefined);
    assert.equal(numberOf([command("x"), command("jot list ")], " jot list"), 2);
    assert.equal(numberOf([command("x")], "jot list"), undefined);
  });
});
