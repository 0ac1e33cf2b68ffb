import type { TimelineMark } from "../lib/records";
import { clock } from "../lib/time";
import { markWords, place, type Stretch } from "../lib/timeline";

interface Props {
  whole: Stretch;
  ticks: readonly number[];
  counts: readonly number[];
  marks: readonly TimelineMark[];
}

/** The time from the run's start, and how many agents there were at each moment. */
export function TimelineAxis({ whole, ticks, counts, marks }: Props) {
  const most = Math.max(1, ...counts);
  return (
    <div class="axis">
      <span class="label">up to {Math.round(most)} agents at once</span>
      <div class="track">
        <svg viewBox={`0 0 ${counts.length} 100`} preserveAspectRatio="none" role="img" aria-label="Agents at once">
          <path d={outline(counts, most)} />
        </svg>
        {marks.map((mark, number) => (
          <i
            key={number}
            class="moment"
            style={{ left: place(whole, { start: mark.at, end: mark.at }).left }}
            title={markWords(whole, mark)}
          />
        ))}
        {ticks.map((second) => (
          <span class="tick" key={second} style={{ left: place(whole, at(whole, second)).left }}>
            {clock(second)}
          </span>
        ))}
      </div>
    </div>
  );
}

function at(whole: Stretch, second: number): Stretch {
  return { start: whole.start + second, end: whole.start + second };
}

function outline(counts: readonly number[], most: number): string {
  const steps = counts.map((count, at) => `L${at} ${(100 - (count / most) * 100).toFixed(1)}H${at + 1}`);
  return `M0 100${steps.join("")}V100Z`;
}
