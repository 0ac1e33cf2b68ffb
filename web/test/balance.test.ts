import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { amount, barOf, expectedWords, placeOf, usedWords } from "../src/lib/balance";
import type { Figure, Meter } from "../src/lib/records";
import { markWords } from "../src/lib/timeline";
import { run } from "./records";

function meter(fields: Partial<Meter> = {}): Meter {
  return { unit: "usd", used: 0, reserved: 0, limit: null, low: null, high: null, note: "", ...fields };
}

describe("barOf", () => {
  it("is as long as the budget", () => {
    const bar = barOf(meter({ used: 5, reserved: 2, limit: 20, low: 4, high: 10 }));
    assert.deepEqual(bar, {
      used: 25,
      reserved: 10,
      expected: { left: 20, width: 30 },
      limit: 100,
      isOver: false,
    });
  });

  it("shows by how much a budget or an estimate was exceeded", () => {
    const over = barOf(meter({ used: 25, limit: 20 }));
    assert.ok(over.isOver && over.limit !== null && over.used > over.limit && over.used < 100);
    assert.ok(barOf(meter({ used: 5, low: 1, high: 4 })).isOver);
    assert.ok(!barOf(meter({ used: 5, low: 1, high: 4, limit: 20 })).isOver, "the budget counts where there is one");
  });

  it("is a bar for nothing at all, and never longer than itself", () => {
    assert.deepEqual(barOf(meter()), { used: 0, reserved: 0, expected: null, limit: null, isOver: false });
    const bar = barOf(meter({ used: 1e9, reserved: 1e9, limit: 1, low: 0, high: 1e12 }));
    assert.ok(bar.used + bar.reserved <= 100 && (bar.expected?.width ?? 0) <= 100);
  });
});

describe("amounts", () => {
  it("are short", () => {
    assert.deepEqual(
      [0, 0.004, 0.31, 1, 12.5].map((one) => amount("usd", one)),
      ["$0.00", "$0.004", "$0.31", "$1.00", "$12.50"],
    );
    assert.deepEqual(
      [0, 950, 1234, 20_000, 999_700, 1_240_000].map((one) => amount("tokens", one)),
      ["0", "950", "1.2k", "20k", "1.0M", "1.2M"],
    );
    assert.equal(amount("seconds", 125), "2 min 05 s");
  });

  it("are said with the budget and the estimate, where there is one", () => {
    assert.equal(usedWords(meter({ used: 1.25 })), "$1.25");
    assert.equal(usedWords(meter({ used: 1.25, reserved: 0.6, limit: 4 })), "$1.25 of $4.00, $0.60 set aside");
    assert.equal(expectedWords(meter()), "");
    assert.equal(expectedWords(meter({ low: 1, high: 2 })), "expected $1.00 to $2.00");
    assert.equal(expectedWords(meter({ low: 1, high: 1 })), "expected $1.00");
  });
});

describe("placeOf", () => {
  it("is where more of a figure is", () => {
    const figure = (place: Figure["place"], section = ""): Figure => ({
      value: "1",
      label: "x",
      tone: "",
      place,
      section,
    });
    assert.equal(placeOf(run(), figure("")), undefined);
    assert.deepEqual(placeOf(run(), figure("branch")), { run: "run", view: "branch" });
    assert.deepEqual(placeOf(run(), figure("section", "blocked")), { run: "run", part: "section", item: "blocked" });
    assert.deepEqual(placeOf(run(), figure("causes")), { run: "run", part: "causes" });
  });
});

describe("markWords", () => {
  it("say when and what, without what a terminal would obey", () => {
    assert.equal(markWords({ start: 100, end: 200 }, { at: 142, text: "slots 4 → 2\u001b[31m" }), "0:42 slots 4 → 2");
  });
});
