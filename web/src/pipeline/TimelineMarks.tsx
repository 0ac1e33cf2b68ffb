import { useState } from "preact/hooks";
import { counted } from "../lib/pipeline";
import type { TimelineMark } from "../lib/records";
import { clock } from "../lib/time";
import type { Stretch } from "../lib/timeline";
import { Name } from "../shell/Name";

const AT_FIRST = 4;

/** What changed the whole run while it went on, and why: slots, pauses, a stop. */
export function TimelineMarks({ marks, whole }: { marks: readonly TimelineMark[]; whole: Stretch }) {
  const [isWhole, setWhole] = useState(false);
  if (marks.length === 0) return null;
  const shown = isWhole ? marks : marks.slice(0, AT_FIRST);
  return (
    <ol class="moments" aria-label="Changes of the run">
      {shown.map((mark, number) => (
        <li key={number}>
          <small>{clock(mark.at - whole.start)}</small> <Name text={mark.text} />
        </li>
      ))}
      {shown.length < marks.length && (
        <li>
          <button type="button" class="fold" onClick={() => setWhole(true)}>
            show {counted(marks.length - shown.length, "more change")}
          </button>
        </li>
      )}
    </ol>
  );
}
