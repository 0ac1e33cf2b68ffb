import { useMemo } from "preact/hooks";
import { splitLines } from "../lib/lines";
import { TerminalLines } from "../terminal/TerminalLines";

/** Why an attempt failed, in the words of the test runner. */
export function Failure({ text }: { text: string }) {
  const lines = useMemo(() => splitLines(text).map((line) => ({ kind: kindOf(line), text: line })), [text]);
  if (lines.length === 0) return null;
  return (
    <section class="failure" aria-label="Failure">
      <TerminalLines lines={lines} />
    </section>
  );
}

function kindOf(line: string): string {
  if (/^E\s/.test(line)) return "complaint";
  return /^>\s/.test(line) ? "point" : "context";
}
