import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { kindOf, load, place, stretchOf, ticks, totals } from "../src/lib/timeline";
import { lane, run, span } from "./records";

describe("stretchOf", () => {
  it("spans the run and everything in it, and is never empty", () => {
    assert.deepEqual(stretchOf(run({ start: 10, duration_s: 5 })), { start: 10, end: 15 });
    assert.deepEqual(stretchOf(run({ start: 10, duration_s: 0 })), { start: 10, end: 11 });
    const lanes = [lane([span("work", 8, 12), span("verify", 12, 40)])];
    assert.deepEqual(stretchOf(run({ start: 10, duration_s: 5, lanes })), { start: 8, end: 40 });
  });
});

describe("place", () => {
  it("is in hundredths, and never narrower than nothing", () => {
    const whole = { start: 100, end: 300 };
    assert.deepEqual(place(whole, { start: 150, end: 200 }), { left: "25.000%", width: "25.000%" });
    assert.deepEqual(place(whole, { start: 200, end: 150 }), { left: "50.000%", width: "0.000%" });
  });
});

describe("ticks", () => {
  it("are round and at most ten, for a second and for a year", () => {
    assert.deepEqual(ticks({ start: 0, end: 1 }), [0, 1]);
    assert.deepEqual(ticks({ start: 1000, end: 1095 }), [0, 15, 30, 45, 60, 75, 90]);
    for (const length of [1, 59, 3601, 86_400, 1e6, 3e7, 1e9]) {
      const found = ticks({ start: 5, end: 5 + length });
      assert.ok(found.length <= 10 && (found.at(-1) ?? 0) <= length, String(length));
    }
  });
});

describe("kinds and totals", () => {
  it("the run's own lane counts as integration, an unknown kind as other", () => {
    assert.equal(kindOf(lane([], "the run"), span("work", 0, 1)), "integrate");
    assert.equal(kindOf(lane([]), span("work", 0, 1)), "work");
    assert.equal(kindOf(lane([]), span("constructor", 0, 1)), "other");
  });

  it("sums each kind over all lanes; a span that ends before it begins counts nothing", () => {
    const sums = totals([
      lane([span("work", 0, 5), span("work", 9, 3)]),
      lane([span("work", 0, 2), span("new", 1, 2)]),
    ]);
    assert.deepEqual(
      [...sums],
      [
        ["work", 7],
        ["other", 1],
      ],
    );
    assert.equal(totals([]).size, 0);
  });
});

describe("load", () => {
  const whole = { start: 0, end: 10 };

  it("counts agents in each part, a part of a part as a fraction", () => {
    assert.deepEqual(load([lane([span("work", 0, 5)]), lane([span("work", 2, 4)])], whole, 5), [1, 2, 0.5, 0, 0]);
  });

  it("leaves out waiting, verifying and the run's own lane, and what is outside", () => {
    const lanes = [lane([span("queue", 0, 10), span("verify", 0, 10)]), lane([span("work", 0, 10)], "the run")];
    assert.deepEqual(load(lanes, whole, 2), [0, 0]);
    assert.deepEqual(load([lane([span("work", -100, -50), span("work", 50, 99)])], whole, 2), [0, 0]);
    assert.deepEqual(load([lane([span("work", -5, 50)])], whole, 2), [1, 1]);
  });

  it("handles ten thousand lanes", () => {
    const lanes = Array.from({ length: 10_000 }, () => lane([span("work", 0, 10)]));
    assert.deepEqual(load(lanes, whole, 2), [10_000, 10_000]);
  });
});
