import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseDiff } from "../src/lib/diff";

const CHANGE = `diff --git a/x.py b/x.py
index 1..2 100644
--- a/x.py
+++ b/x.py
@@ -3,3 +3,3 @@ def f():
 same
-old
+new
\\ No newline at end of file
@@ -20 +20 @@
-a
+b
`;

describe("parseDiff", () => {
  it("counts and numbers lines, removed ones in the old file", () => {
    const [file, ...rest] = parseDiff(CHANGE);
    assert.deepEqual(rest, []);
    assert.deepEqual([file?.path, file?.added, file?.removed], ["x.py", 2, 2]);
    assert.deepEqual(
      file?.lines.map(({ kind, number }) => [kind, number]),
      [
        ["hunk", undefined],
        ["same", 3],
        ["removed", 4],
        ["added", 4],
        ["about", undefined],
        ["hunk", undefined],
        ["removed", 20],
        ["added", 20],
      ],
    );
  });

  it("is not misled by lines of a file that look like a header", () => {
    const text = "diff --git a/n b/n\n--- a/n\n+++ b/n\n@@ -1 +1,2 @@\n--- a/other\n+++ b/other\n+diff --git a/q b/q\n";
    const [file, ...rest] = parseDiff(text);
    assert.deepEqual(rest, []);
    assert.deepEqual([file?.path, file?.added, file?.removed], ["n", 2, 1]);
  });

  it("names deleted, renamed, binary and empty files", () => {
    const text = [
      "diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x",
      "diff --git a/old name b/new name\nsimilarity index 100%\nrename from old name\nrename to new name",
      "diff --git a/p.png b/p.png\nBinary files a/p.png and b/p.png differ",
      "diff --git a/empty b/empty\nnew file mode 100644\nindex 0..e",
    ].join("\n");
    const files = parseDiff(text);
    assert.deepEqual(
      files.map((file) => file.path),
      ["gone", "new name", "a/p.png b/p.png", "a/empty b/empty"],
    );
    assert.deepEqual(
      files.map((file) => file.lines.filter((line) => line.kind === "about").length),
      [1, 3, 1, 1],
    );
  });

  it("finds nothing in nothing, and ignores a commit's message before the first file", () => {
    assert.deepEqual(parseDiff(""), []);
    assert.equal(parseDiff(`commit 123\n\n    diff --git like\n\n${CHANGE}`).length, 1);
  });

  it("reads 200,000 lines", () => {
    const text = `diff --git a/f b/f\n+++ b/f\n@@ -0,0 +1 @@\n${"+x\n".repeat(200_000)}`;
    assert.equal(parseDiff(text)[0]?.added, 200_000);
  });
});
