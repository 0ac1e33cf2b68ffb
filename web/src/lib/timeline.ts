import { plain } from "./ansi";
import type { Lane, LaneSpan, Run, TimelineMark } from "./records";
import { clock } from "./time";

export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** What agents do, in the order of an agent's life; the words are those of the legend. */
export const KINDS: ReadonlyMap<string, string> = new Map([
  ["queue", "waiting"],
  ["launch", "launching"],
  ["work", "at work"],
  ["pull", "fetching work"],
  ["stop", "stopping"],
  ["verify", "verifying"],
  ["integrate", "integrating"],
]);

const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400];
const MOST_TICKS = 9;

/** From the run's start to the end of its last span. */
export function stretchOf(run: Run): Stretch {
  let [start, end] = [run.start, run.start + run.duration_s];
  for (const lane of run.lanes) {
    for (const span of lane.spans) {
      start = Math.min(start, span.start);
      end = Math.max(end, span.end);
    }
  }
  return { start, end: Math.max(end, start + 1) };
}

/** Where something is, in hundredths of the whole. */
export function place(whole: Stretch, span: Stretch): { left: string; width: string } {
  const scale = 100 / (whole.end - whole.start);
  const left = (span.start - whole.start) * scale;
  return { left: `${left.toFixed(3)}%`, width: `${Math.max((span.end - span.start) * scale, 0).toFixed(3)}%` };
}

/** Round seconds after the start, few enough to be read. */
export function ticks(whole: Stretch): readonly number[] {
  const length = whole.end - whole.start;
  const step = STEPS.find((each) => length / each <= MOST_TICKS) ?? Math.ceil(length / MOST_TICKS / 86_400) * 86_400;
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, at) => at * step);
}

/** `0:42 slots 4 → 2, set by ann`. */
export function markWords(whole: Stretch, mark: TimelineMark): string {
  return `${clock(mark.at - whole.start)} ${plain(mark.text)}`;
}

/** What a span counts as: the run's own lanes tell how many slots it had, and steps of the integration. */
export function kindOf(lane: Lane, span: LaneSpan): string {
  if (lane.label) return lane.label === "slots" ? "other" : "integrate";
  return KINDS.has(span.kind) ? span.kind : "other";
}

/** How long all lanes together were at each kind of thing. */
export function totals(lanes: readonly Lane[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const lane of lanes) {
    for (const span of lane.spans) {
      const kind = kindOf(lane, span);
      sums.set(kind, (sums.get(kind) ?? 0) + Math.max(span.end - span.start, 0));
    }
  }
  return sums;
}

/** How many agents there were in each of `count` equal parts of the time; waiting and verifying need none. */
export function load(lanes: readonly Lane[], whole: Stretch, count: number): readonly number[] {
  const counts = new Array<number>(count).fill(0);
  const part = (whole.end - whole.start) / count;
  for (const span of lanes.flatMap((lane) => (lane.label ? [] : lane.spans.filter(isAgent)))) {
    const last = Math.min(Math.ceil((span.end - whole.start) / part), count);
    for (let at = Math.max(Math.floor((span.start - whole.start) / part), 0); at < last; at++) {
      counts[at] = (counts[at] ?? 0) + Math.min(1, overlap(span, whole.start + at * part, part) / part);
    }
  }
  return counts;
}

function isAgent(span: LaneSpan): boolean {
  return span.kind !== "queue" && span.kind !== "verify";
}

function overlap(span: LaneSpan, from: number, length: number): number {
  return Math.max(Math.min(span.end, from + length) - Math.max(span.start, from), 0);
}
