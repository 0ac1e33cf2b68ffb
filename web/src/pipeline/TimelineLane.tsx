import { plain } from "../lib/ansi";
import { rowOf } from "../lib/pipeline";
import type { Lane, LaneSpan, Run } from "../lib/records";
import { formatRoute } from "../lib/route";
import { clock, duration } from "../lib/time";
import { KINDS, kindOf, place, type Stretch } from "../lib/timeline";
import { Name } from "../shell/Name";
import { StatusMark } from "../shell/StatusMark";

interface Props {
  run: Run;
  lane: Lane;
  whole: Stretch;
  top: number;
}

/** One agent's life, which leads to its row, or the run's slots or integration, which leads to the branch. */
export function TimelineLane({ run, lane, whole, top }: Props) {
  const row = rowOf(run, lane.test);
  const name = row?.name ?? (lane.label || lane.test);
  const view = lane.label === "slots" ? ("timeline" as const) : ("branch" as const);
  const route = lane.label ? { run: run.id, view } : { run: run.id, test: lane.test };
  return (
    <li style={{ top: `${top}px` }}>
      <a class="lane" href={formatRoute(route)}>
        <span class="label">
          {row && <StatusMark status={row.status} />}
          <Name text={name} title={row?.reason || name} />
        </span>
        <span class="track" aria-hidden="true">
          {lane.spans.map((span, at) => (
            <i key={at} class={kindOf(lane, span)} style={place(whole, span)} title={tooltip(span, whole, name)} />
          ))}
        </span>
      </a>
    </li>
  );
}

function tooltip(span: LaneSpan, whole: Stretch, name: string): string {
  const [from, to] = [clock(span.start - whole.start), clock(span.end - whole.start)];
  return plain(`${KINDS.get(span.kind) ?? span.kind} ${duration(span.end - span.start)}, ${from} – ${to}\n${name}`);
}
