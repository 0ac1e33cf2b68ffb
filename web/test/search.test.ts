import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Detail } from "../src/lib/records";
import { Library, matchesName, type Progress, pattern } from "../src/lib/search";
import type { Source } from "../src/lib/source";
import { attempt, command, detail, run, test } from "./records";

describe("pattern", () => {
  it("takes words literally in any case", () => {
    const dots = pattern("A.B(c)[d]|$^\\*+?{1}") as RegExp;
    assert.ok(dots.test("xx a.b(C)[D]|$^\\*+?{1} yy"));
    assert.ok(!(pattern("a.b") as RegExp).test("axb"));
  });

  it("takes text between slashes as an expression, and says why it is not one", () => {
    assert.ok((pattern("/a.b/") as RegExp).test("AxB"));
    assert.ok(pattern("/(/") instanceof Error);
    assert.ok((pattern("/") as RegExp).test("a/b"));
    assert.ok((pattern("//") as RegExp).test("a//b"));
    assert.equal(pattern(""), null);
  });
});

describe("matchesName", () => {
  it("looks at name, file and reason", () => {
    const row = test("t", { name: "test_a", file: "tests/test_x.py", reason: "expected 3" });
    for (const word of ["TEST_A", "test_x.py", "expected 3"])
      assert.ok(matchesName(row, pattern(word) as RegExp), word);
    assert.ok(!matchesName(row, /absent/));
  });
});

class Details implements Source {
  readonly isLive = false;
  reads = 0;
  constructor(readonly details: Record<string, Detail>) {}
  index = () => Promise.reject(new Error("not asked for"));
  cast = this.index;
  patch = this.index;
  forget() {}
  async detail(chunk: string) {
    this.reads++;
    const found = this.details[chunk];
    if (!found) throw new Error("gone");
    return found;
  }
}

async function search(library: Library, count: number, wanted: RegExp, signal = new AbortController().signal) {
  const tests = Array.from({ length: count }, (_, at) => test(`t${at}`, { attempts: [attempt(1, `c${at}`)] }));
  let last: Progress | undefined;
  await library.search(run({ tests }), wanted, (progress) => (last = progress), signal);
  return last;
}

describe("Library", () => {
  it("names the command and the place in the line", async () => {
    const commands = [
      command("echo one", "one\n"),
      command("echo \x1b[1mtwo", "first\n  \x1b[31mneed\x1b[0mle here\n"),
    ];
    const progress = await search(new Library(new Details({ c0: detail({ commands }) })), 1, /NEEDLE/i);
    const found = progress?.found.get("t0");
    assert.deepEqual(found, { attempt: 1, command: 2, line: "  needle here", start: 2, end: 8 });
  });

  it("finds what is in no command, in failures, screens and notes", async () => {
    const source = new Details({
      c0: detail({ commands: [command("x")], failure: "boom\nneedle", notes: ["a note"] }),
    });
    for (const word of [/needle/, /a note/]) {
      const found = (await search(new Library(source), 1, word))?.found.get("t0");
      assert.ok(found && found.command === undefined);
    }
  });

  it("shows a part of a very long line", async () => {
    const output = `${"a".repeat(100_000)}needle${"b".repeat(100_000)}`;
    const progress = await search(
      new Library(new Details({ c0: detail({ commands: [command("x", output)] }) })),
      1,
      /needle/,
    );
    const found = progress?.found.get("t0");
    assert.ok(found && found.line.length === 200);
    assert.equal(found.line.slice(found.start, found.end), "needle");
  });

  it("reads each text once, all of them, and goes on when one cannot be read", async () => {
    const details = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [`c${at}`, detail({ failure: `needle ${at}` })]),
    );
    delete details.c7;
    const source = new Details(details);
    const library = new Library(source);
    const progress = await search(library, 60, /needle/);
    assert.deepEqual([progress?.read, progress?.total, progress?.found.size], [60, 60, 59]);
    await search(library, 60, /other/);
    assert.equal(source.reads, 61);
    library.forget(["c1", "c2"]);
    await search(library, 60, /other/);
    assert.equal(source.reads, 64);
  });

  it("reports nothing after it was stopped, and nothing for empty matches", async () => {
    const library = new Library(new Details({ c0: detail({ failure: "needle" }) }));
    assert.equal(await search(library, 1, /needle/, AbortSignal.abort()), undefined);
    assert.equal((await search(library, 1, /x*/))?.found.size, 0);
  });
});
