import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { countByStatus, failingFirst, isFailing, lastStatus, STATUSES } from "../src/lib/status";
import { run, test } from "./records";

describe("status", () => {
  it("only failed, error and timeout are failures", () => {
    assert.deepEqual(STATUSES.filter(isFailing), ["failed", "error", "timeout"]);
  });

  it("counts every status, also those that no test has", () => {
    const counts = countByStatus([test("a"), test("b"), test("c", { status: "failed" })]);
    assert.deepEqual([...counts.keys()], STATUSES);
    assert.deepEqual([counts.get("passed"), counts.get("failed"), counts.get("error")], [2, 1, 0]);
    assert.ok([...countByStatus([]).values()].every((count) => count === 0));
  });

  it("sorts failing tests first and keeps the order within a status", () => {
    const tests = [test("a"), test("b", { status: "timeout" }), test("c"), test("d", { status: "failed" })];
    assert.deepEqual(
      failingFirst(tests).map((each) => each.id),
      ["d", "b", "a", "c"],
    );
  });

  it("the last status comes from this run, else from the tutorial, else there is none", () => {
    const tutorial = { file: "t.sh", blocks: [], statuses: { old: "failed", here: "failed" } as const };
    const shown = run({ tests: [test("here")], tutorial });
    assert.equal(lastStatus(shown, "here"), "passed");
    assert.equal(lastStatus(shown, "old"), "failed");
    assert.equal(lastStatus(shown, "constructor"), "not run");
    assert.equal(lastStatus(run(), "here"), "not run");
  });
});
