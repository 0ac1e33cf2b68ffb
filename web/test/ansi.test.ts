import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { AnsiReader, plain, visible } from "../src/lib/ansi";

const read = (line: string) => new AnsiReader().read(line);

describe("AnsiReader", () => {
  it("cuts a line into pieces of one style", () => {
    assert.deepEqual(read("a\x1b[1;31mb\x1b[0mc"), [
      { text: "a", style: {} },
      { text: "b", style: { isBold: true, colour: 1 } },
      { text: "c", style: {} },
    ]);
  });

  it("keeps a colour over line ends until it is taken back", () => {
    const reader = new AnsiReader();
    reader.skip("\x1b[32mnot shown");
    assert.deepEqual(reader.read("green"), [{ text: "green", style: { colour: 2 } }]);
    reader.read("\x1b[39m");
    assert.equal(reader.read("plain")[0]?.style.colour, undefined);
  });

  it("reads the palette of 256 and true colours, with semicolons and colons", () => {
    const colour = (parameters: string) => read(`\x1b[${parameters}mx`)[0]?.style.colour;
    assert.equal(colour("95"), 13);
    assert.equal(colour("38;5;9"), 9);
    assert.equal(colour("38;5;16"), "rgb(0 0 0)");
    assert.equal(colour("38;5;231"), "rgb(255 255 255)");
    assert.equal(colour("38;5;255"), "rgb(238 238 238)");
    assert.equal(colour("38;2;1;2;3"), "rgb(1 2 3)");
    assert.equal(colour("38:2::1:2:3"), "rgb(1 2 3)");
    assert.equal(colour("38:2:1:2:3"), "rgb(1 2 3)");
    assert.equal(read("\x1b[48;5;4;1mx")[0]?.style.background, 4);
    assert.equal(read("\x1b[48;5;4;1mx")[0]?.style.isBold, true);
  });

  it("leaves the style alone for colours and parameters that do not exist", () => {
    for (const parameters of ["38;5;256", "38;2;256;0;0", "38;2;1", "38", "38;7;1", "?25", ">4;1"]) {
      assert.equal(read(`\x1b[${parameters}mx`)[0]?.style.colour, undefined, parameters);
    }
  });

  it("switches styles off one by one", () => {
    const [piece] = read("\x1b[1;2;3;4;7;9m\x1b[22;23;4:0;27;29mx");
    assert.ok(piece && Object.values(piece.style).every((value) => value === false));
  });

  it("drops cursor movements, titles and links, and shows lone control characters", () => {
    assert.deepEqual(
      read("a\x1b[2Kb\x1b]0;title\x07c\x1b]8;;http://x\x1b\\d\x1b(Be")
        .map((piece) => piece.text)
        .join(""),
      "abcde",
    );
    assert.deepEqual(
      read("a\x08b\x7f").map((piece) => piece.text),
      ["a", "␈", "b", "␡"],
    );
  });

  it("does not let a cut title hide what follows", () => {
    assert.match(plain(`\x1b]0;${"x".repeat(5000)}\x07visible`), /visible/);
    assert.equal(plain("\x1b]0;cut\nvisible"), "0;cut\nvisible");
  });

  it("returns no piece for an empty line", () => {
    assert.deepEqual(read(""), []);
    assert.deepEqual(read("\x1b[0m"), []);
  });
});

describe("plain and visible", () => {
  it("plain removes sequences and carriage returns, and keeps tabs and line ends", () => {
    assert.equal(plain("\x1b[31mred\x1b[0m\r\n\ttab"), "red\n\ttab");
    assert.equal(plain(""), "");
  });

  it("both show characters that change the direction of writing", () => {
    assert.equal(plain("user\u202egpj.exe"), "user\ufffdgpj.exe");
    for (const mark of "\u061c\u200e\u200f\u202a\u202e\u2066\u2069") assert.equal(visible(`a${mark}b`), "a\ufffdb");
  });

  it("visible leaves nothing out", () => {
    assert.equal(visible("\x1b[31m\r\x00\x7f\x9b\n\t"), "␛[31m␍␀␡\ufffd\n\t");
  });

  it("keeps letters of every script, and emoji", () => {
    for (const text of ["שלום", "مرحبا", "日本語", "👩‍💻"]) assert.equal(plain(text), text);
  });

  it("reads 200,000 sequences without waiting", () => {
    assert.equal(plain("\x1b[31mx".repeat(200_000)).length, 200_000);
    assert.equal(plain("\x1b]".repeat(200_000)).includes("\x1b"), false);
  });
});
