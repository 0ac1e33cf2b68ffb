/** A line of a diff; `kind` is its CSS class, `number` its place in the new file, of a removed one in the old. */
export interface DiffLine {
  readonly kind: "added" | "removed" | "same" | "hunk" | "about";
  readonly text: string;
  readonly number?: number;
}

export interface FileDiff {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  readonly lines: readonly DiffLine[];
}

/** What `git diff-tree -p` says, file by file. */
export function parseDiff(text: string): readonly FileDiff[] {
  const lines = text.replace(/\n$/, "").split("\n");
  const starts = lines.flatMap((line, at) => (line.startsWith("diff --git ") ? [at] : []));
  return starts.map((start, at) => parseFile(lines.slice(start, starts[at + 1])));
}

function parseFile(lines: readonly string[]): FileDiff {
  const hunk = lines.findIndex((line) => line.startsWith("@@"));
  const head = lines.slice(0, hunk < 0 ? undefined : hunk);
  const body = hunk < 0 ? [] : parseHunks(lines.slice(hunk));
  const count = (kind: DiffLine["kind"]) => body.filter((line) => line.kind === kind).length;
  return {
    path: pathOf(head),
    added: count("added"),
    removed: count("removed"),
    lines: [...head.filter(isTelling).map((text) => ({ kind: "about" as const, text })), ...body],
  };
}

function pathOf(head: readonly string[]): string {
  for (const start of ["+++ b/", "rename to ", "--- a/"]) {
    const line = head.find((each) => each.startsWith(start));
    if (line) return line.slice(start.length);
  }
  return (head[0] ?? "").slice("diff --git ".length);
}

function isTelling(line: string): boolean {
  return /^(new file|deleted file|old mode|new mode|rename |copy |similarity |Binary )/.test(line);
}

function parseHunks(lines: readonly string[]): readonly DiffLine[] {
  let [old, now] = [0, 0];
  return lines.map((text): DiffLine => {
    const place = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(text);
    if (place) {
      [old, now] = [Number(place[1]), Number(place[2])];
      return { kind: "hunk", text };
    }
    if (text.startsWith("+")) return { kind: "added", text, number: now++ };
    if (text.startsWith("-")) return { kind: "removed", text, number: old++ };
    if (text.startsWith("\\")) return { kind: "about", text };
    old++;
    return { kind: "same", text, number: now++ };
  });
}
