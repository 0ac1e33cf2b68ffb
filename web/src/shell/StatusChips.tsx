import type { Status, Test } from "../lib/records";
import { countByStatus, STATUSES } from "../lib/status";
import type { Filter } from "./App";
import { StatusMark } from "./StatusMark";

interface Props {
  tests: readonly Test[];
  filter: Filter;
  setFilter: (filter: Filter) => void;
  isFilter: boolean;
}

/** How many tests there are of each status; pressing one leaves only those. */
export function StatusChips({ tests, filter, setFilter, isFilter }: Props) {
  const counts = countByStatus(tests);
  const toggle = (status: Status) => {
    const statuses = new Set(filter.statuses);
    if (!statuses.delete(status)) statuses.add(status);
    setFilter({ ...filter, statuses });
  };
  return (
    <div class="chips" role="group" aria-label="Tests by status">
      {STATUSES.filter((status) => counts.get(status) || filter.statuses.has(status)).map((status) => (
        <button
          type="button"
          class="chip"
          key={status}
          disabled={!isFilter}
          aria-pressed={filter.statuses.has(status)}
          onClick={() => toggle(status)}
          title={isFilter ? `Only ${status} tests` : undefined}
        >
          <StatusMark status={status} />
          <b>{counts.get(status)}</b> <span>{status}</span>
        </button>
      ))}
    </div>
  );
}
