import { plain } from "./ansi";
import { Name } from "./Name";
import { rowOf } from "./pipeline";
import type { Lane, Run, Span } from "./records";
import { formatRoute } from "./route";
import { StatusMark } from "./StatusMark";
import { clock, duration } from "./time";
import { KINDS, place, type Stretch } from "./timeline";

interface Props {
  run: Run;
  lane: Lane;
  whole: Stretch;
  top: number;
}

/** One agent's life; it leads to its row. */
export function TimelineLane({ run, lane, whole, top }: Props) {
  const row = rowOf(run, lane.test);
  return (
    <li style={{ top: `${top}px` }}>
      <a class="lane" href={formatRoute({ run: run.id, test: lane.test })}>
        <span class="label">
          {row && <StatusMark status={row.status} />}
          <Name text={row?.name ?? lane.test} title={row?.reason || lane.test} />
        </span>
        <span class="track" aria-hidden="true">
          {lane.spans.map((span, at) => (
            <i
              key={at}
              class={KINDS.has(span.kind) ? span.kind : "other"}
              style={place(whole, span)}
              title={told(span, whole, row?.name ?? lane.test)}
            />
          ))}
        </span>
      </a>
    </li>
  );
}

function told(span: Span, whole: Stretch, name: string): string {
  const [from, to] = [clock(span.start - whole.start), clock(span.end - whole.start)];
  return plain(`${KINDS.get(span.kind) ?? span.kind} ${duration(span.end - span.start)}, ${from} – ${to}\n${name}`);
}
