import { useMemo, useState } from "preact/hooks";
import { rowOf } from "../lib/pipeline";
import type { Lane, Run } from "../lib/records";
import { formatRoute } from "../lib/route";
import { matchesName, pattern } from "../lib/search";
import { load, stretchOf, ticks } from "../lib/timeline";
import type { Filter } from "../shell/App";
import { Message } from "../shell/Message";
import { useWindow } from "../shell/useWindow";
import { TimelineAxis } from "./TimelineAxis";
import { TimelineLane } from "./TimelineLane";
import { TimelineLegend } from "./TimelineLegend";
import { TimelineMarks } from "./TimelineMarks";

const TALL = 24;
const FLAT = 6;
const MANY = 150;

/** A lane for each agent; only those on the screen are drawn, so that a thousand are as quick as ten. */
export function Timeline({ run, filter }: { run: Run; filter: Filter }) {
  const [isFlat, setFlat] = useState(run.lanes.length > MANY);
  const lanes = useMemo(() => shownLanes(run, filter), [run, filter]);
  const whole = useMemo(() => stretchOf(run), [run]);
  const height = isFlat ? FLAT : TALL;
  const [scroller, first, last] = useWindow(lanes.length, height);
  const counts = useMemo(() => load(lanes, whole, 240), [lanes, whole]);
  if (run.lanes.length === 0) {
    const link = ["Its tests", formatRoute({ run: run.id })] as const;
    return <Message title="No timeline" text="No agent has been at work in this run." link={link} />;
  }
  return (
    <main class={isFlat ? "timeline flat" : "timeline"} aria-label="Timeline">
      <TimelineLegend lanes={lanes} isFlat={isFlat} setFlat={setFlat} />
      <TimelineMarks marks={run.marks} whole={whole} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls what has the focus */}
      <div class="lanes" ref={scroller} tabIndex={0}>
        <TimelineAxis whole={whole} ticks={ticks(whole)} counts={counts} marks={run.marks} />
        <ol style={{ height: `${lanes.length * height}px` }}>
          {lanes.slice(first, last).map((lane, at) => (
            <TimelineLane key={lane.test || lane.label} {...{ run, lane, whole }} top={(first + at) * height} />
          ))}
        </ol>
        {lanes.length === 0 && <p class="nothing">No test matches.</p>}
      </div>
    </main>
  );
}

function shownLanes(run: Run, filter: Filter): readonly Lane[] {
  const regexp = pattern(filter.query);
  return run.lanes.filter((lane) => {
    const row = rowOf(run, lane.test);
    if (!row) return filter.statuses.size === 0 && !filter.query;
    return (
      (filter.statuses.size === 0 || filter.statuses.has(row.status)) &&
      (!(regexp instanceof RegExp) || matchesName(row, regexp))
    );
  });
}
