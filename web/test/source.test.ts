import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { openSource } from "../src/lib/source";

/** The part of a document that a source reads: its elements with data. */
function page(chunks: Record<string, string>): Document {
  const elements = Object.entries(chunks).map(([name, text]) => ({ getAttribute: () => name, textContent: text }));
  return { querySelector: () => null, querySelectorAll: () => elements } as unknown as Document;
}

const packed = (value: unknown) => gzipSync(JSON.stringify(value)).toString("base64");

describe("a page with its own data", () => {
  it("unpacks what is asked for, also a second time and after it was forgotten", async () => {
    const source = openSource(
      page({ index: packed({ title: "t" }), "1": packed({ commands: [] }), "2": packed("cast") }),
    );
    assert.equal(source.isLive, false);
    assert.equal((await source.index()).title, "t");
    assert.deepEqual(await source.detail("1"), { commands: [] });
    assert.equal(await source.cast("2"), "cast");
    source.forget(["1", "unknown"]);
    assert.deepEqual(await source.detail("1"), { commands: [] });
  });

  it("keeps text of every script and control characters, also two million of them", async () => {
    const text = `שלום \u202e\u0000</script>${"é".repeat(2_000_000)}`;
    assert.equal(await openSource(page({ c: packed(text) })).cast("c"), text);
  });

  it("says what is missing, and fails on what is damaged", async () => {
    const source = openSource(page({ empty: "", cut: packed("x".repeat(1000)).slice(0, 20), text: btoa("plain") }));
    await assert.rejects(source.detail("absent"), /no data named absent/);
    for (const chunk of ["empty", "cut", "text"]) await assert.rejects(source.detail(chunk), chunk);
  });
});

describe("a live page", () => {
  const live = { querySelector: () => ({}), querySelectorAll: () => [] } as unknown as Document;

  it("asks the server once, and again for what was forgotten", async (context) => {
    const asked: string[] = [];
    context.mock.method(globalThis, "fetch", async (address: string) => {
      asked.push(address);
      return new Response(JSON.stringify({ asked: asked.length }));
    });
    const source = openSource(live);
    assert.equal(source.isLive, true);
    assert.deepEqual(await source.detail("a"), { asked: 1 });
    assert.deepEqual(await source.detail("a"), { asked: 1 });
    source.forget(["a"]);
    assert.deepEqual(await source.detail("a"), { asked: 2 });
    await source.index();
    await source.index();
    assert.deepEqual(asked, ["data/a", "data/a", "data/index", "data/index"]);
  });

  it("does not keep an answer that was on its way when it was forgotten", async (context) => {
    let answer: (response: Response) => void = () => {};
    const mock = context.mock.method(globalThis, "fetch", () => new Promise((resolve) => (answer = resolve)));
    const source = openSource(live);
    const old = source.cast("a");
    source.forget(["b"]);
    answer(new Response('"old"'));
    assert.equal(await old, "old");
    const now = source.cast("a");
    await Promise.resolve();
    answer(new Response('"new"'));
    assert.equal(await now, "new");
    assert.equal(mock.mock.callCount(), 2);
  });

  it("says that the server is away, or what it answered", async (context) => {
    context.mock.method(globalThis, "fetch", async () => new Response("", { status: 404 }));
    await assert.rejects(openSource(live).detail("x"), /answered 404 for x/);
    context.mock.method(globalThis, "fetch", async () => Promise.reject(new TypeError("failed")));
    await assert.rejects(openSource(live).detail("x"), /does not answer/);
  });
});
