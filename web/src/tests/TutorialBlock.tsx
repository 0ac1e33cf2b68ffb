import { commitName, rowOf } from "../lib/pipeline";
import type { TutorialBlock as Block, Run } from "../lib/records";
import { formatRoute } from "../lib/route";
import { lastStatus } from "../lib/status";
import { isUncovered } from "../lib/tutorial";
import { Name } from "../shell/Name";
import { StatusMark } from "../shell/StatusMark";
import { ShellText } from "../terminal/ShellText";

/** One block of the tutorial beside the tests that cite it. */
export function TutorialBlock({ run, block, isChosen }: { run: Run; block: Block; isChosen: boolean }) {
  if (block.kind === "banner") return <span id={`block-${block.id}`} />;
  const kind = isUncovered(block) ? "uncovered" : block.kind;
  return (
    <div class={`block is-${kind}`} id={`block-${block.id}`} aria-current={isChosen ? "true" : undefined}>
      <a
        class="number"
        href={formatRoute({ run: run.id, view: "tutorial", block: block.id })}
        title={`Line ${block.first_line}`}
      >
        {block.first_line}
      </a>
      <ShellText text={block.text} />
      <div class="cited">
        {kind === "uncovered" && <p class="missing">no test cites this block</p>}
        {kind === "gap" && <p class="missing">a gap: no commands yet</p>}
        <ul>
          {block.tests.map((test) => (
            <li key={test}>
              <CitingTest run={run} test={test} />
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

function CitingTest({ run, test }: { run: Run; test: string }) {
  const row = rowOf(run, test);
  const status = lastStatus(run, test);
  if (!row) {
    return (
      <span class="absent" title={`${test}\nThis run left it out; the status is its last one.`}>
        <StatusMark status={status} /> <Name text={test.slice(test.indexOf("::") + 1).replace(/^:/, "")} />
      </span>
    );
  }
  return (
    <>
      <a href={formatRoute({ run: run.id, test })}>
        <StatusMark status={status} /> <Name text={row.name} />
      </a>
      {(row.work?.merged ?? []).map((merged) => (
        <a
          class="tag good"
          key={merged.commit}
          href={formatRoute({ run: run.id, view: "branch", commit: merged.commit })}
        >
          {commitName(merged.rank)}
        </a>
      ))}
    </>
  );
}
