import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseCast, printed } from "../src/lib/cast";

const cast = (header: object, ...events: unknown[]) =>
  [header, ...events].map((each) => JSON.stringify(each)).join("\n");

describe("parseCast", () => {
  it("reads version 2, whose seconds count from the start", () => {
    const text = cast({ version: 2, width: 100, height: 30 }, [0.5, "o", "a"], [2, "o", "b"]);
    assert.deepEqual(parseCast(text), {
      cols: 100,
      rows: 30,
      events: [
        [0.5, "o", "a"],
        [2, "o", "b"],
      ],
    });
  });

  it("reads version 3, whose seconds count from the event before", () => {
    const text = cast({ version: 3, term: { cols: 90, rows: 20 } }, [0.5, "o", "a"], [2, "o", "b"], [1, "r", "10x5"]);
    const { cols, rows, events } = parseCast(text);
    assert.deepEqual([cols, rows], [90, 20]);
    assert.deepEqual(events, [
      [0.5, "o", "a"],
      [2.5, "o", "b"],
      [3.5, "r", "10x5"],
    ]);
  });

  it("never goes back in time", () => {
    const { events } = parseCast(cast({ version: 2 }, [5, "o", "a"], [1, "o", "b"]));
    assert.deepEqual(
      events.map(([second]) => second),
      [5, 5],
    );
  });

  it("leaves out lines that are cut, of another kind or malformed", () => {
    const good = cast(
      { version: 2 },
      [0, "o", "kept"],
      [1, "i", "typed"],
      [1, "r", "wide"],
      [-1, "o", "x"],
      ["1", "o", "x"],
    );
    const { events } = parseCast(`${good}\n[2, "o", 5]\n# comment\n\n[]\n[null]\n[3, "o", "cu`);
    assert.deepEqual(events, [[0, "o", "kept"]]);
  });

  it("bounds the size, and has one when none is given", () => {
    const size = (header: object) => {
      const { cols, rows } = parseCast(cast(header, [0, "o", ""]));
      return [cols, rows];
    };
    assert.deepEqual(size({ version: 2 }), [80, 24]);
    assert.deepEqual(size({ version: 2, width: 1e9, height: 1e9 }), [500, 250]);
    assert.deepEqual(size({ version: 2, width: -1, height: "30" }), [80, 24]);
    assert.deepEqual(size({ version: 3, term: { cols: 0.5 } }), [80, 24]);
    assert.deepEqual(parseCast(cast({ version: 2 }, [0, "r", "99999x0"])).events, [[0, "r", "500x24"]]);
  });

  it("refuses what is no recording", () => {
    assert.throws(() => parseCast(""), SyntaxError);
    assert.throws(() => parseCast("null\n"), /no header/);
    assert.throws(() => parseCast("7\n"), /no header/);
    assert.throws(() => parseCast(cast({ version: 2 })), /holds nothing yet/);
  });

  it("reads 200,000 events", () => {
    const text = `{"version": 2}\n${'[1, "o", "x"]\n'.repeat(200_000)}`;
    assert.equal(printed(parseCast(text)).length, 200_000);
  });
});

describe("printed", () => {
  it("is the output until a second, without resizes", () => {
    const recording = parseCast(cast({ version: 2 }, [0, "o", "a"], [1, "r", "10x10"], [2, "o", "b"]));
    assert.equal(printed(recording), "ab");
    assert.equal(printed(recording, 1.9), "a");
    assert.equal(printed(recording, 2), "ab");
    assert.equal(printed(recording, -1), "");
  });
});
