import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { formatRoute, parseRoute, type Route } from "../src/lib/route";

const set = (route: Route) => Object.fromEntries(Object.entries(route).filter(([, value]) => value !== undefined));

describe("routes", () => {
  it("an address says what is shown", () => {
    const addresses: [string, object][] = [
      ["", { view: "tests" }],
      ["#/", { view: "tests" }],
      ["#/run/r", { run: "r", view: "tests" }],
      ["#/run/r/test/t/attempt/2/command/3", { run: "r", view: "tests", test: "t", attempt: 2, command: 3 }],
      ["#/run/r/tutorial/b1", { run: "r", view: "tutorial", block: "b1" }],
      ["#/run/r/branch/abc", { run: "r", view: "branch", commit: "abc" }],
      ["#/run/r/timeline", { run: "r", view: "timeline" }],
      ["#/run/r/causes/2", { run: "r", view: "tests", part: "causes", item: "2" }],
      ["#/run/r/section", { run: "r", view: "tests", part: "section" }],
      ["#/elsewhere", { view: "tests" }],
    ];
    for (const [address, route] of addresses) assert.deepEqual(set(parseRoute(address)), route, address);
  });

  it("what was written is read back, whatever names contain", () => {
    for (const name of ["a/b::c[x y]", "100%", "#?&", "שלום\u202e", "run", "test", "%2F", "\u0000"]) {
      const routes: Route[] = [
        { run: name, view: "tests", test: name, attempt: 1, command: 999_999 },
        { run: name, view: "tutorial", block: name },
        { run: name, view: "branch", commit: name },
        { run: name, view: "tests", part: "matter", item: name },
      ];
      for (const route of routes) assert.deepEqual(set(parseRoute(formatRoute(route))), route);
    }
  });

  it("numbers that are none are left out", () => {
    for (const number of ["x", "-1", "1.5", "1234567", "1e3", ""]) {
      assert.equal(parseRoute(`#/run/r/test/t/attempt/${number}`).attempt, undefined, number);
    }
    assert.equal(formatRoute({ run: "r", test: "t", attempt: 0 }), "#/run/r/test/t");
  });

  it("survives an address that is no valid encoding, and a huge one", () => {
    assert.equal(parseRoute("#/run/%E0%A4%A").run, "%E0%A4%A");
    assert.equal(parseRoute(`#/run/${"x".repeat(1_000_000)}`).run?.length, 1_000_000);
    assert.equal(parseRoute("/".repeat(100_000)).run, undefined);
  });

  it("without a run there is only the list of runs", () => {
    assert.equal(formatRoute({ test: "t" }), "#/");
  });
});
