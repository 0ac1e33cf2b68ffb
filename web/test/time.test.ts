import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clock, duration, moment } from "../src/lib/time";

describe("time", () => {
  it("a duration has the unit that suits it, and rounds into the next", () => {
    const shown: [number, string][] = [
      [-1, "0 ms"],
      [0, "0 ms"],
      [0.0004, "0 ms"],
      [0.0084, "8 ms"],
      [0.9994, "999 ms"],
      [0.9996, "1.00 s"],
      [1.239, "1.24 s"],
      [59.94, "59.9 s"],
      [59.96, "1 min 00 s"],
      [125, "2 min 05 s"],
      [3599.7, "1 h 00 min"],
      [90_061, "25 h 01 min"],
    ];
    for (const [seconds, text] of shown) assert.equal(duration(seconds), text);
  });

  it("a clock never runs before zero", () => {
    assert.deepEqual([-5, 0, 12.9, 60, 3723].map(clock), ["0:00", "0:00", "0:12", "1:00", "1:02:03"]);
  });

  it("a moment that is none is empty", () => {
    for (const second of [0, -1, 8.64e12, Number.NaN, Infinity]) assert.equal(moment(second), "");
    assert.match(moment(1_700_000_000), /2023/);
  });
});
