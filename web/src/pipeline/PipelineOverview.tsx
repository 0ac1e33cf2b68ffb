import { useEffect } from "preact/hooks";
import { counted, groupsOf } from "../lib/pipeline";
import type { Run } from "../lib/records";
import { formatRoute, type Route } from "../lib/route";
import { duration, moment } from "../lib/time";
import { Facts } from "../shell/Facts";
import { Name } from "../shell/Name";
import { StatusBar } from "../shell/StatusBar";
import { BalancePanel } from "./BalancePanel";
import { Causes } from "./Causes";
import { CommitList } from "./CommitList";
import { Matters } from "./Matters";
import { Recipes } from "./Recipes";
import { SectionTable } from "./SectionTable";

/** A pipeline's run at a glance: causes, facts, rows in sections, what agents raised, the branch. */
export function PipelineOverview({ run, route }: { run: Run; route: Route }) {
  const { part, item } = route;
  useEffect(() => {
    if (part && !item) document.getElementById(part)?.scrollIntoView({ block: "start" });
  }, [part, item]);
  const chosen = (name: Route["part"]) => (part === name ? item : undefined);
  return (
    <article class="overview report">
      <Heading run={run} />
      {item && !isThere(run, route) && (
        <p class="note">
          This run has no {part === "causes" ? "cause" : part} “<Name text={item} />
          ”; it may have changed since.
        </p>
      )}
      {run.headline && (
        <p class="standing">
          <Name text={run.headline} />
        </p>
      )}
      <Causes run={run} chosen={chosen("causes")} />
      <BalancePanel run={run} />
      <Facts facts={run.facts.filter((fact) => fact.label !== "state")} />
      {groupsOf(run).map((group) => (
        <SectionTable
          key={group.section.id}
          {...{ run, group }}
          isChosen={part === "section" && group.section.id === item}
        />
      ))}
      <Matters run={run} chosen={chosen("matter")} />
      {run.commits.length > 0 && (
        <section aria-label="The branch">
          <h3>
            <a href={formatRoute({ run: run.id, view: "branch" })}>The branch</a>{" "}
            <b class="count">{run.commits.length}</b>
          </h3>
          <CommitList run={run} />
        </section>
      )}
      {run.recipes.length > 0 && (
        <section aria-label="What next">
          <h3>What next</h3>
          <Recipes recipes={run.recipes} />
        </section>
      )}
    </article>
  );
}

function Heading({ run }: { run: Run }) {
  const state = run.facts.find((fact) => fact.label === "state");
  const added = run.tests.filter((test) => test.work?.added_by).length;
  return (
    <header>
      <h2>
        <Name text={run.title} />
        {state && (
          <span class={`state ${state.tone || "open"}`}>
            <Name text={state.value} />
          </span>
        )}
      </h2>
      <p class="facts">
        {counted(run.tests.length - added, "test")}
        {added > 0 && ` and ${added.toLocaleString()} that agents added`} · {moment(run.start)} ·{" "}
        {run.is_running ? "still running" : `took ${duration(run.duration_s)}`}
      </p>
      <StatusBar tests={run.tests} />
      {run.warnings.map((warning) => (
        <p class="warning" key={warning}>
          <Name text={warning} />
        </p>
      ))}
    </header>
  );
}

function isThere(run: Run, { part, item }: Route): boolean {
  if (part === "causes") return run.causes.some((cause) => cause.id === item);
  if (part === "section") return groupsOf(run).some((group) => group.section.id === item);
  return run.matters.some((_, at) => String(at + 1) === item);
}
