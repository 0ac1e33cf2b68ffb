import type { Output, Stream } from "./records";

export interface Line {
  readonly stream: Stream;
  readonly text: string;
}

/** Output as it came, cut into lines. A lone carriage return ends a line too and stays visible. */
export function linesOf(output: readonly Output[]): readonly Line[] {
  const lines: Line[] = [];
  for (const { stream, text } of joined(output)) {
    for (const line of splitLines(text)) lines.push({ stream, text: line });
  }
  return lines;
}

export function splitLines(text: string): readonly string[] {
  const lines = text.split(/\r*\n|(?<=\r)(?!\n)/);
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function joined(output: readonly Output[]): readonly Line[] {
  const runs: { stream: Stream; text: string }[] = [];
  for (const { stream, text } of output) {
    const last = runs.at(-1);
    if (last?.stream === stream) last.text += text;
    else runs.push({ stream, text });
  }
  return runs;
}
