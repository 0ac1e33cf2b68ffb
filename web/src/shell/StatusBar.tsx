import type { Test } from "../lib/records";
import { countByStatus, STATUSES } from "../lib/status";

/** The share of each status as one thin bar. */
export function StatusBar({ tests }: { tests: readonly Test[] }) {
  const counts = countByStatus(tests);
  return (
    <span class="bar" aria-hidden="true">
      {STATUSES.filter((status) => counts.get(status)).map((status) => (
        <i key={status} class={status} style={{ flexGrow: counts.get(status) }} />
      ))}
    </span>
  );
}
