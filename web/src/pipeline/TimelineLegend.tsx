import { counted } from "../lib/pipeline";
import type { Lane } from "../lib/records";
import { duration } from "../lib/time";
import { KINDS, totals } from "../lib/timeline";

interface Props {
  lanes: readonly Lane[];
  isFlat: boolean;
  setFlat: (isFlat: boolean) => void;
}

/** What the colours mean and how long all agents together were at it. */
export function TimelineLegend({ lanes, isFlat, setFlat }: Props) {
  const sums = totals(lanes);
  return (
    <header class="legend">
      <b>{counted(lanes.filter((lane) => !lane.label).length, "agent")}</b>
      <ul aria-label="Colours">
        {[...KINDS].map(([kind, words]) => (
          <li key={kind} title={`all agents together: ${duration(sums.get(kind) ?? 0)}`}>
            <i class={kind} /> {words} <small>{sums.has(kind) && duration(sums.get(kind) ?? 0)}</small>
          </li>
        ))}
      </ul>
      <button type="button" class="fold" aria-pressed={isFlat} onClick={() => setFlat(!isFlat)}>
        {isFlat ? "with names" : "condensed"}
      </button>
    </header>
  );
}
