/** A length of time as short as it stays exact enough: 8 ms, 1.24 s, 2 min 05 s. */
export function duration(seconds: number): string {
  if (seconds < 0.0005) return "0 ms";
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 59.95) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${pad(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${pad(Math.floor((whole % 3600) / 60))} min`;
}

/** A place in a recording: 0:12, 1:02:03. */
export function clock(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes}:${pad(whole % 60)}`;
  return `${Math.floor(minutes / 60)}:${pad(minutes % 60)}:${pad(whole % 60)}`;
}

const DAY_AND_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

export function moment(since1970: number): string {
  return since1970 > 0 && since1970 < 8.64e12 ? DAY_AND_TIME.format(since1970 * 1000) : "";
}

function pad(number: number): string {
  return String(number).padStart(2, "0");
}
