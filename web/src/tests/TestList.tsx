import { Fragment } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { counted, disagrees, type Group, rankOf } from "../lib/pipeline";
import type { Run, Section, Test, Work } from "../lib/records";
import { formatRoute } from "../lib/route";
import type { Found, Progress } from "../lib/search";
import { duration } from "../lib/time";
import { Name } from "../shell/Name";
import { StatusMark } from "../shell/StatusMark";

interface Props {
  run: Run;
  groups: readonly Group[];
  selected: string | undefined;
  regexp: RegExp | null;
  progress: Progress | null;
}

export function TestList({ run, groups, selected, regexp, progress }: Props) {
  const list = useRef<HTMLElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-current="true"]')?.scrollIntoView({ block: "nearest" });
  }, [selected]);
  const count = groups.reduce((sum, group) => sum + group.tests.length, 0);
  return (
    <nav class="list" ref={list} aria-label="Tests">
      <p class="tally" role="status">
        {tally(run, count, regexp, progress)}
      </p>
      {progress && progress.read < progress.total && <progress value={progress.read} max={progress.total} />}
      {groups.map(({ section, tests }) => (
        <Fragment key={section?.id}>
          {section && <GroupHeading run={run} section={section} count={tests.length} />}
          <ul>
            {tests.map((test) => (
              <TestRow
                key={test.id}
                run={run.id}
                test={test}
                isSelected={test.id === selected}
                found={progress?.found.get(test.id)}
              />
            ))}
          </ul>
        </Fragment>
      ))}
      {count === 0 && <p class="nothing">{run.tests.length ? "No test matches." : "No tests yet."}</p>}
    </nav>
  );
}

function GroupHeading({ run, section, count }: { run: Run; section: Section; count: number }) {
  return (
    <h3 class={section.is_finding ? "group finding" : "group"} title={section.about}>
      <a href={formatRoute({ run: run.id, part: "section", item: section.id })}>
        <Name text={section.title} />
      </a>{" "}
      <b class="count">{count}</b>
    </h3>
  );
}

function tally(run: Run, count: number, regexp: RegExp | null, progress: Progress | null): string {
  const shown =
    count === run.tests.length ? counted(count, "test") : `${count} of ${counted(run.tests.length, "test")}`;
  if (!regexp || !progress || progress.read >= progress.total) return shown;
  return `${shown} · reading ${progress.read} of ${progress.total}`;
}

interface RowProps {
  run: string;
  test: Test;
  isSelected: boolean;
  found: Found | undefined;
}

/** Drawn again only when something of its own changed, which is what keeps a thousand rows quick. */
function TestRow(props: RowProps) {
  return useMemo(() => drawnRow(props), [props.run, props.test, props.isSelected, props.found]);
}

function drawnRow({ run, test, isSelected, found }: RowProps) {
  const place = found ? { attempt: found.attempt, command: found.command } : {};
  return (
    <li class="row">
      <a href={formatRoute({ run, test: test.id, ...place })} aria-current={isSelected ? "true" : undefined}>
        <StatusMark status={test.status} />
        <span class="name">
          <Name text={test.name} />
        </span>
        <span class="took">{test.status === "running" ? "" : duration(test.duration_s)}</span>
        {test.work ? <WorkLine test={test} work={test.work} /> : <FileLine test={test} />}
        {found && <FoundLine found={found} />}
      </a>
    </li>
  );
}

function FileLine({ test }: { test: Test }) {
  return (
    <span class="file">
      <Name text={test.file} />
      {test.attempts.length > 1 && <em> · {test.attempts.length} attempts</em>}
    </span>
  );
}

function WorkLine({ test, work }: { test: Test; work: Work }) {
  const rank = rankOf(test);
  return (
    <span class="file">
      {disagrees(work) && <b class="disagree">≠ </b>}
      {rank > 0 && <b>fix {rank} · </b>}
      <Name text={test.reason || test.file} />
    </span>
  );
}

function FoundLine({ found }: { found: Found }) {
  return (
    <code class="found">
      {found.line.slice(0, found.start)}
      <mark>{found.line.slice(found.start, found.end)}</mark>
      {found.line.slice(found.end)}
    </code>
  );
}
