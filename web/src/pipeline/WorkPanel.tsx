import type { Run, Work } from "../lib/records";
import { formatRoute } from "../lib/route";
import { Facts } from "../shell/Facts";
import { Name } from "../shell/Name";
import { Prose } from "../shell/Prose";
import { Changes } from "./Changes";
import { Recipes } from "./Recipes";
import { Verdicts } from "./Verdicts";

/** What an agent did about a test: its claim, the check, what it changed and what it wants. */
export function WorkPanel({ run, work }: { run: Run; work: Work }) {
  return (
    <section class="effort" aria-label="The agent's work">
      <div class="claim">
        {(work.claimed || work.verdict || work.before || work.on_branch) && <Verdicts work={work} />}
        {work.summary && (
          <div class="summary">
            <h3>
              Summary
              {work.outcome && (
                <span class="tag">
                  <Name text={work.outcome} />
                </span>
              )}
            </h3>
            <Prose text={work.summary} />
          </div>
        )}
      </div>
      {work.needs && (
        <p class="warning needs">
          <b>It needs:</b> <Name text={work.needs} />
        </p>
      )}
      {work.added_by && (
        <p class="note">
          Added by <Name text={work.added_by} />
        </p>
      )}
      {work.notes.map((note) => (
        <p class="note" key={note}>
          <Name text={note} />
        </p>
      ))}
      <Raised run={run} work={work} />
      <Changes run={run} work={work} />
      <Facts facts={work.facts} />
      <Recipes recipes={work.recipes} />
    </section>
  );
}

function Raised({ run, work }: { run: Run; work: Work }) {
  const matters = work.matters.flatMap((at) => (run.matters[at] ? [{ at, matter: run.matters[at] }] : []));
  if (matters.length === 0) return null;
  return (
    <p class="raised">
      It raised:{" "}
      {matters.map(({ at, matter }) => (
        <a key={at} class="tag" href={formatRoute({ run: run.id, part: "matter", item: String(at + 1) })}>
          <Name text={matter.kind} />: <Name text={matter.title} />
        </a>
      ))}
    </p>
  );
}
