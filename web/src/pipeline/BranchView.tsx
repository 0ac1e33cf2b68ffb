import { commitOf } from "../lib/pipeline";
import type { Run } from "../lib/records";
import { formatRoute, type Route } from "../lib/route";
import type { Source } from "../lib/source";
import { Facts } from "../shell/Facts";
import { useKeys } from "../shell/keyboard";
import { Message } from "../shell/Message";
import { Name } from "../shell/Name";
import { CommitCard } from "./CommitCard";
import { CommitList } from "./CommitList";
import { MeasuredTable } from "./MeasuredTable";
import { Recipes } from "./Recipes";

interface Props {
  run: Run;
  commit: string | undefined;
  go: (route: Partial<Route>, how?: "push" | "replace") => void;
  source: Source;
}

/** The integrated branch, commit by commit, in the order of a review. */
export function BranchView({ run, commit, go, source }: Props) {
  const { commits } = run;
  const chosen = commitOf(run, commit);
  const step = (by: number) => () => {
    const at = chosen ? commits.indexOf(chosen) + by : by > 0 ? 0 : commits.length - 1;
    const next = commits[at];
    if (next) go({ run: run.id, view: "branch", commit: next.id }, "replace");
  };
  useKeys({ j: step(1), k: step(-1) });
  if (commits.length === 0) {
    const text = run.is_running ? "It is there when integration is done." : "Nothing was integrated in this run.";
    return <Message title="No commits" text={text} link={["Its tests", formatRoute({ run: run.id })]} />;
  }
  return (
    <div class="branch">
      <nav class="outline" aria-label="Commits">
        <CommitList run={run} chosen={chosen?.id} />
      </nav>
      <main class="document" aria-label="Branch">
        <Facts facts={run.facts.filter((fact) => /^(base|branch|pull request|gate .*)$/.test(fact.label))} />
        <Recipes recipes={run.recipes} />
        <MeasuredTable run={run} />
        {commit && !chosen && (
          <p class="warning">
            The branch has no commit “<Name text={commit} />
            ”; it may have been built again since.
          </p>
        )}
        {commits.map((each) => (
          <CommitCard key={each.id} run={run} commit={each} isChosen={each.id === chosen?.id} source={source} />
        ))}
      </main>
    </div>
  );
}
