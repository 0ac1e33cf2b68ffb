import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { linesOf, splitLines } from "../src/lib/lines";

describe("splitLines", () => {
  it("has no line for nothing, and none after the last newline", () => {
    assert.deepEqual(splitLines(""), []);
    assert.deepEqual(splitLines("\n"), [""]);
    assert.deepEqual(splitLines("a\nb\n"), ["a", "b"]);
    assert.deepEqual(splitLines("a\n\nb"), ["a", "", "b"]);
  });

  it("takes carriage returns before a newline as one line end, and keeps a lone one visible", () => {
    assert.deepEqual(splitLines("a\r\nb\r\r\nc"), ["a", "b", "c"]);
    assert.deepEqual(splitLines("10%\r20%\n"), ["10%\r", "20%"]);
  });

  it("splits 200,000 lines", () => {
    assert.equal(splitLines("x\n".repeat(200_000)).length, 200_000);
  });
});

describe("linesOf", () => {
  it("joins pieces of one stream before it cuts lines", () => {
    const output = [
      { stream: "stdout" as const, at: 0, text: "hel" },
      { stream: "stdout" as const, at: 1, text: "lo\nrest" },
      { stream: "stderr" as const, at: 2, text: "oops\n" },
      { stream: "stdout" as const, at: 3, text: "\nend" },
    ];
    assert.deepEqual(linesOf(output), [
      { stream: "stdout", text: "hello" },
      { stream: "stdout", text: "rest" },
      { stream: "stderr", text: "oops" },
      { stream: "stdout", text: "" },
      { stream: "stdout", text: "end" },
    ]);
    assert.deepEqual(linesOf([]), []);
  });

  it("does not change the records it reads", () => {
    const output = Object.freeze([
      Object.freeze({ stream: "stdout" as const, at: 0, text: "a" }),
      Object.freeze({ stream: "stdout" as const, at: 1, text: "b" }),
    ]);
    assert.equal(linesOf(output)[0]?.text, "ab");
    assert.equal(output[0]?.text, "a");
  });
});
