import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { blocksOf, spansOf } from "../src/lib/prose";

describe("blocksOf", () => {
  it("knows paragraphs, headings, items and code", () => {
    const text =
      "# Title #\none\ntwo\r\n\nthree\n- item\n  more\n2) second\n```py\n# not a heading\n\n- nor an item\n```\nend";
    assert.deepEqual(blocksOf(text), [
      { kind: "heading", text: "Title" },
      { kind: "text", text: "one\ntwo" },
      { kind: "text", text: "three" },
      { kind: "item", text: "item\nmore" },
      { kind: "item", text: "second" },
      { kind: "code", text: "# not a heading\n\n- nor an item\n" },
      { kind: "text", text: "end" },
    ]);
  });

  it("shows code whose fence is never closed", () => {
    assert.deepEqual(blocksOf("~~~\nlost"), [{ kind: "code", text: "lost\n" }]);
  });

  it("has nothing for nothing, and leaves what is no markdown as typed", () => {
    assert.deepEqual(blocksOf(" \n\n\t"), []);
    assert.deepEqual(blocksOf("#hash 1.5 <b>&amp;"), [{ kind: "text", text: "#hash 1.5 <b>&amp;" }]);
  });

  it("reads 100,000 lines", () => {
    assert.equal(blocksOf("- x\n".repeat(100_000)).length, 100_000);
  });
});

describe("spansOf", () => {
  it("finds code and strong words, and nothing inside code", () => {
    assert.deepEqual(spansOf("a `**b**` **c** d"), [
      { kind: "plain", text: "a " },
      { kind: "code", text: "**b**" },
      { kind: "plain", text: " " },
      { kind: "strong", text: "c" },
      { kind: "plain", text: " d" },
    ]);
  });

  it("leaves marks without an end as they are", () => {
    for (const text of ["`open", "**open", "``", "****", "a ` b\nc ` d", "2 * 3 ** 4"]) {
      assert.deepEqual(spansOf(text), [{ kind: "plain", text }]);
    }
    assert.deepEqual(spansOf(""), []);
  });

  it("loses no character of a text of marks", () => {
    const text = "`".repeat(9999) + "*".repeat(9999);
    assert.equal(
      spansOf(text)
        .map((span) => span.text)
        .join(""),
      text,
    );
  });
});
