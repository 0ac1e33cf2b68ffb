import { useMemo } from "preact/hooks";
import { type Group, groupsOf, isPipeline } from "../lib/pipeline";
import type { Attempt, Run, Test } from "../lib/records";
import { formatRoute, type Route } from "../lib/route";
import { type Library, matchesName, type Progress } from "../lib/search";
import type { Source } from "../lib/source";
import { failingFirst, isFailing } from "../lib/status";
import { BranchView } from "../pipeline/BranchView";
import { PipelineOverview } from "../pipeline/PipelineOverview";
import { Timeline } from "../pipeline/Timeline";
import { Overview } from "../tests/Overview";
import { TestDetail } from "../tests/TestDetail";
import { TestList } from "../tests/TestList";
import { TutorialView } from "../tests/TutorialView";
import type { Filter } from "./App";
import { useKeys } from "./keyboard";
import { Message } from "./Message";
import { useSearch } from "./useSearch";

interface Props {
  run: Run;
  route: Route;
  go: (route: Partial<Route>, how?: "push" | "replace") => void;
  source: Source;
  library: Library;
  filter: Filter;
  changes: number;
}

/** One run: its tests on the left and what was chosen on the right, or one of its other views. */
export function RunView({ run, route, go, source, library, filter, changes }: Props) {
  const { regexp, progress } = useSearch(library, run, route.view === "tests" ? filter.query : "", changes);
  const groups = useMemo(() => shownGroups(run, filter, regexp, progress), [run, filter, regexp, progress]);
  const tests = useMemo(() => groups.flatMap((group) => group.tests), [groups]);
  const test = run.tests.find((each) => each.id === route.test);
  const attempt = test?.attempts.find((each) => each.number === route.attempt) ?? lastOf(test);
  const isFiltered = filter.query !== "" || filter.statuses.size > 0;

  const choose = (next: Test | undefined) => next && go({ run: run.id, test: next.id }, "replace");
  const step = (by: number, among: readonly Test[]) => () => choose(neighbour(tests, among, test, by));
  const failing = tests.filter((each) => isFailing(each.status));
  const open = () => {
    if (!test) choose(tests[0]);
    document.querySelector<HTMLElement>(".detail")?.focus();
  };
  const attempts = Object.fromEntries(
    (test?.attempts ?? [])
      .slice(0, 9)
      .map((each, at) => [String(at + 1), () => go({ run: run.id, test: test?.id, attempt: each.number }, "replace")]),
  );
  const keys = {
    j: step(1, tests),
    k: step(-1, tests),
    n: step(1, failing),
    p: step(-1, failing),
    Enter: open,
    o: open,
    ...attempts,
  };
  useKeys(route.view === "tests" ? keys : {});

  if (route.view === "tutorial") return <TutorialView run={run} block={route.block} filter={filter} />;
  if (route.view === "branch") return <BranchView {...{ run, go, source, commit: route.commit }} />;
  if (route.view === "timeline") return <Timeline run={run} filter={filter} />;
  const isList = route.test === undefined && (!isPipeline(run) || isFiltered);
  return (
    <div class={`panes ${isList ? "on-list" : "on-detail"}`}>
      <TestList {...{ run, groups, selected: test?.id, regexp, progress }} />
      <main class="detail" tabIndex={-1} aria-label="Detail" key={`${test?.id}/${attempt?.number}`}>
        {test ? (
          <TestDetail {...{ run, test, attempt, source, changes, command: route.command }} />
        ) : route.test === undefined ? (
          isPipeline(run) ? (
            <PipelineOverview run={run} route={route} />
          ) : (
            <Overview run={run} />
          )
        ) : (
          <Message
            title="No such test"
            text={`This run has no test “${route.test}”.`}
            link={["All tests of this run", formatRoute({ run: run.id })]}
          />
        )}
      </main>
    </div>
  );
}

function shownGroups(run: Run, filter: Filter, regexp: RegExp | null, progress: Progress | null): readonly Group[] {
  const isShown = (test: Test) =>
    (filter.statuses.size === 0 || filter.statuses.has(test.status)) &&
    (!regexp || matchesName(test, regexp) || progress?.found.has(test.id));
  const groups = isPipeline(run) ? groupsOf(run) : [{ tests: failingFirst(run.tests) }];
  const shown = groups.map((group) => ({ ...group, tests: group.tests.filter(isShown) }));
  return shown.filter((group) => group.tests.length > 0);
}

/** What is shown of a row that was chosen: its agent's last attempt, or else its own. */
function lastOf(test: Test | undefined): Attempt | undefined {
  return test?.attempts.findLast((attempt) => attempt.kind === "agent") ?? test?.attempts.at(-1);
}

/** The next of some tests in the order of the list, starting from the chosen one even if it is none of them. */
function neighbour(
  tests: readonly Test[],
  among: readonly Test[],
  chosen: Test | undefined,
  by: number,
): Test | undefined {
  const at = chosen ? tests.findIndex((test) => test.id === chosen.id) : by > 0 ? -1 : tests.length;
  const ahead = by > 0 ? tests.slice(at + 1) : tests.slice(0, Math.max(at, 0)).toReversed();
  return ahead.find((test) => among.includes(test));
}
