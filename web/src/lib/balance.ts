import type { Figure, Meter, Run, Unit } from "./records";
import type { Route } from "./route";
import { duration } from "./time";

/** Where the parts of a meter lie, in hundredths of its length. */
export interface Bar {
  readonly used: number;
  readonly reserved: number;
  readonly expected: { readonly left: number; readonly width: number } | null;
  readonly limit: number | null;
  readonly isOver: boolean;
}

/** The whole length is the budget, or without one what was used or expected, with a little room after it. */
export function barOf(meter: Meter): Bar {
  const { used, reserved, limit, low, high } = meter;
  const most = Math.max(used + reserved, high ?? 0, limit ?? 0);
  const whole = (limit !== null && limit >= most ? limit : most * 1.06) || 1;
  const part = (amount: number) => Math.min(Math.max((amount / whole) * 100, 0), 100);
  const expected = low !== null && high !== null ? { left: part(low), width: part(high) - part(low) } : null;
  return {
    used: part(used),
    reserved: part(used + reserved) - part(used),
    expected,
    limit: limit === null ? null : part(limit),
    isOver: used > (limit ?? high ?? Number.POSITIVE_INFINITY),
  };
}

export function amount(unit: Unit, value: number): string {
  if (unit === "seconds") return duration(value);
  if (unit === "usd") return `$${value.toFixed(value > 0 && value < 0.095 ? 3 : 2)}`;
  if (value < 1000) return Math.round(value).toLocaleString();
  const [scale, letter] = value < 999_500 ? [1000, "k"] : [1_000_000, "M"];
  const short = value / scale;
  return `${short < 9.95 ? short.toFixed(1) : Math.round(short).toLocaleString()}${letter}`;
}

/** `$1.25 of $4.00, $0.60 set aside`. */
export function usedWords({ unit, used, reserved, limit }: Meter): string {
  const of = limit === null ? "" : ` of ${amount(unit, limit)}`;
  return `${amount(unit, used)}${of}${reserved > 0 ? `, ${amount(unit, reserved)} set aside` : ""}`;
}

/** `expected $0.90 to $2.10`; empty where nothing was. */
export function expectedWords({ unit, low, high }: Meter): string {
  if (low === null || high === null) return "";
  const [from, to] = [amount(unit, low), amount(unit, high)];
  return from === to ? `expected ${to}` : `expected ${from} to ${to}`;
}

/** The place that has more of a figure. */
export function placeOf(run: Run, figure: Figure): Partial<Route> | undefined {
  if (figure.place === "branch") return { run: run.id, view: "branch" };
  if (figure.place === "section") return { run: run.id, part: "section", item: figure.section };
  if (figure.place) return { run: run.id, part: figure.place };
  return undefined;
}
