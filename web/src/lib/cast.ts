/** A recording in the form the player reads: a header and what was printed or resized when, in seconds. */
export interface Recording {
  readonly cols: number;
  readonly rows: number;
  readonly events: readonly RecordedEvent[];
}

type RecordedEvent = readonly [second: number, code: "o" | "r", data: string];

const MOST_COLS = 500;
const MOST_ROWS = 250;

/**
 * An asciicast, version 2 or 3. Lines that are cut or foreign are left out, so that
 * a recording that was stopped hard still plays; idle time is kept, so that seconds stay those of the commands.
 */
export function parseCast(text: string): Recording {
  const [first = "", ...rest] = text.split("\n");
  const header = object(first);
  const isRelative = header.version === 3;
  const term = (isRelative ? header.term : undefined) as Record<string, unknown> | undefined;
  const events: RecordedEvent[] = [];
  let now = 0;
  for (const line of rest) {
    const event = parseEvent(line);
    if (!event) continue;
    now = isRelative ? now + event[0] : Math.max(now, event[0]);
    events.push([now, event[1], event[2]]);
  }
  if (events.length === 0) throw new Error("the recording holds nothing yet");
  return {
    cols: within(term?.cols ?? header.width, 80, MOST_COLS),
    rows: within(term?.rows ?? header.height, 24, MOST_ROWS),
    events,
  };
}

/** What the recording printed until a second. */
export function printed({ events }: Recording, until = Infinity): string {
  return events.map(([second, code, data]) => (code === "o" && second <= until ? data : "")).join("");
}

function parseEvent(line: string): RecordedEvent | undefined {
  if (!line.startsWith("[")) return undefined;
  try {
    const [time, code, data] = JSON.parse(line) as unknown[];
    if (typeof time !== "number" || !(time >= 0) || typeof data !== "string") return undefined;
    if (code === "o") return [time, code, data];
    return code === "r" ? resize(time, data) : undefined;
  } catch {
    return undefined;
  }
}

function resize(time: number, data: string): RecordedEvent | undefined {
  const size = /^(\d+)x(\d+)$/.exec(data);
  if (!size) return undefined;
  return [time, "r", `${within(Number(size[1]), 80, MOST_COLS)}x${within(Number(size[2]), 24, MOST_ROWS)}`];
}

function within(value: unknown, otherwise: number, most: number): number {
  const number = typeof value === "number" && Number.isInteger(value) && value > 0 ? value : otherwise;
  return Math.min(number, most);
}

function object(line: string): Record<string, unknown> {
  const found: unknown = JSON.parse(line);
  if (typeof found !== "object" || found === null) throw new Error("the recording has no header");
  return found as Record<string, unknown>;
}
