import type { Run } from "../lib/records";
import { formatRoute } from "../lib/route";
import { countByStatus, STATUSES } from "../lib/status";
import { duration, moment } from "../lib/time";
import { Name } from "./Name";
import { StatusBar } from "./StatusBar";
import { StatusMark } from "./StatusMark";

/** Every run with its counts, the newest first. */
export function RunList({ runs }: { runs: readonly Run[] }) {
  const newestFirst = runs.toSorted((one, other) => other.start - one.start);
  return (
    <main class="runs" aria-label="Runs">
      {runs.length === 0 && <p class="nothing">No runs here.</p>}
      <ul>
        {newestFirst.map((run) => (
          <li key={run.id}>
            <RunRow run={run} />
          </li>
        ))}
      </ul>
    </main>
  );
}

function RunRow({ run }: { run: Run }) {
  const counts = countByStatus(run.tests);
  const worst = STATUSES.find((status) => counts.get(status)) ?? "skipped";
  return (
    <a class="run" href={formatRoute({ run: run.id })}>
      <StatusMark status={run.is_running ? "running" : worst} />
      <span class="what">
        <strong>
          <Name text={run.title} />
        </strong>
        <small>
          {moment(run.start)} · {run.is_running ? "running" : duration(run.duration_s)}
          {run.warnings.length > 0 && ` · ${run.warnings.length} warning${run.warnings.length > 1 ? "s" : ""}`}
        </small>
      </span>
      <StatusBar tests={run.tests} />
      <span class="counts">
        {STATUSES.filter((status) => counts.get(status)).map((status) => (
          <span key={status}>
            <StatusMark status={status} /> {counts.get(status)}
          </span>
        ))}
      </span>
    </a>
  );
}
