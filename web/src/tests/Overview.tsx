import { counted } from "../lib/pipeline";
import type { Run, Test } from "../lib/records";
import { formatRoute } from "../lib/route";
import { failingFirst, isFailing } from "../lib/status";
import { duration, moment } from "../lib/time";
import { coverage } from "../lib/tutorial";
import { Name } from "../shell/Name";
import { StatusBar } from "../shell/StatusBar";
import { StatusMark } from "../shell/StatusMark";

const MOST_SLOW = 8;

/** A run at a glance, shown until a test is chosen. */
export function Overview({ run }: { run: Run }) {
  const failing = failingFirst(run.tests).filter((test) => isFailing(test.status));
  const slowest = run.tests.toSorted((one, other) => other.duration_s - one.duration_s).slice(0, MOST_SLOW);
  return (
    <article class="overview">
      <h2>
        <Name text={run.title} />
      </h2>
      <p class="facts">
        {counted(run.tests.length, "test")} · {moment(run.start)} ·{" "}
        {run.is_running ? "still running" : `took ${duration(run.duration_s)}`}
      </p>
      <StatusBar tests={run.tests} />
      {run.warnings.map((warning) => (
        <p class="warning" key={warning}>
          <Name text={warning} />
        </p>
      ))}
      <TestTable run={run} title={failing.length === 1 ? "1 failing" : `${failing.length} failing`} tests={failing} />
      {run.tutorial && <Coverage run={run} />}
      <TestTable run={run} title="Slowest" tests={slowest} />
    </article>
  );
}

function TestTable({ run, title, tests }: { run: Run; title: string; tests: readonly Test[] }) {
  if (tests.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul class="table">
        {tests.map((test) => (
          <li key={test.id}>
            <a href={formatRoute({ run: run.id, test: test.id })}>
              <StatusMark status={test.status} />
              <span class="name">
                <Name text={test.name} />
              </span>
              <span class="reason">
                <Name text={test.reason || test.file} />
              </span>
              <span class="took">{duration(test.duration_s)}</span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Coverage({ run }: { run: Run }) {
  const { commands, uncovered, gaps } = coverage(run);
  return (
    <section>
      <h3>Tutorial</h3>
      <p>
        <a href={formatRoute({ run: run.id, view: "tutorial" })}>
          {commands.length - uncovered.length} of {commands.length} command blocks have tests
        </a>
        {gaps.length > 0 && ` · ${gaps.length} gap${gaps.length > 1 ? "s" : ""}`}
      </p>
    </section>
  );
}
