import { useEffect, useRef, useState } from "preact/hooks";
import { short } from "../lib/pipeline";
import type { BranchCommit, Run } from "../lib/records";
import { formatRoute } from "../lib/route";
import type { Source } from "../lib/source";
import { CopyButton } from "../shell/CopyButton";
import { LongText } from "../shell/LongText";
import { Name } from "../shell/Name";
import { Diff } from "./Diff";
import { Recipes } from "./Recipes";
import { TestLinks } from "./TestLinks";
import { Weakenings } from "./Weakenings";
import { WitnessTable } from "./WitnessTable";

interface Props {
  run: Run;
  commit: BranchCommit;
  isChosen: boolean;
  source: Source;
}

/** One commit of the branch: why it is there, who made it, what shows that it works, what it changes. */
export function CommitCard({ run, commit, isChosen, source }: Props) {
  const card = useRef<HTMLElement>(null);
  const [isDiffOpen, setDiffOpen] = useState(false);
  const further = commit.needed_by.filter((test) => !commit.tests.includes(test));
  useEffect(() => {
    if (isChosen) card.current?.scrollIntoView({ block: "start" });
  }, [isChosen]);
  return (
    <article class="commit" ref={card} aria-label={commit.title} aria-current={isChosen ? "true" : undefined}>
      <Heading run={run} commit={commit} />
      {commit.reason && <LongText text={commit.reason} />}
      {commit.flags.length > 0 && (
        <ul class="flags" aria-label="Not to be missed">
          {commit.flags.map((flag) => (
            <li key={flag}>
              <Name text={flag} />
            </li>
          ))}
        </ul>
      )}
      <Weakenings weakenings={commit.weakenings} />
      <div class="proof">
        <div>
          <h4>Tests it is credited to</h4>
          <TestLinks run={run} tests={commit.tests} marked={commit.needed_by} word="fails without it" />
          {further.length > 0 && <h4>Other tests that fail without it</h4>}
          {further.length > 0 && <TestLinks run={run} tests={further} />}
        </div>
        {commit.witness && <WitnessTable witness={commit.witness} />}
      </div>
      <Recipes recipes={commit.recipes} />
      <p class="touched">
        <button type="button" aria-expanded={isDiffOpen} onClick={() => setDiffOpen(!isDiffOpen)}>
          {isDiffOpen ? "Hide diff" : "Show diff"}
        </button>
        {commit.paths.map((path) => (
          <code key={path}>
            <Name text={path} />
          </code>
        ))}
      </p>
      {isDiffOpen && <Diff source={source} chunk={commit.chunk} />}
    </article>
  );
}

function Heading({ run, commit }: { run: Run; commit: BranchCommit }) {
  return (
    <header>
      <b class="rank" title={commit.rank ? `rank ${commit.rank}` : "all tests and docs, in one commit"}>
        {commit.rank || "·"}
      </b>
      <h3>
        <a href={formatRoute({ run: run.id, view: "branch", commit: commit.id })}>
          <Name text={commit.title} />
        </a>
      </h3>
      <code title={commit.id}>{short(commit.id)}</code>
      <CopyButton text={commit.id} what="commit id" />
    </header>
  );
}
