import { counted, short } from "../lib/pipeline";
import type { BranchCommit, Run } from "../lib/records";
import { formatRoute } from "../lib/route";
import { Name } from "../shell/Name";

/** The commits of the integrated branch, one line each. */
export function CommitList({ run, chosen }: { run: Run; chosen?: string }) {
  return (
    <ol class="commits">
      {run.commits.map((commit) => (
        <li key={commit.id}>
          <a
            href={formatRoute({ run: run.id, view: "branch", commit: commit.id })}
            aria-current={commit.id === chosen ? "true" : undefined}
          >
            <b class="rank">{commit.rank || "·"}</b>
            <span class="title">
              <Name text={commit.title} />
            </span>
            <small>{about(commit)}</small>
            <code>{short(commit.id)}</code>
          </a>
        </li>
      ))}
    </ol>
  );
}

function about(commit: BranchCommit): string {
  const warnings = commit.flags.length + commit.weakenings.length;
  const tests = commit.rank > 0 ? commit.needed_by : commit.tests;
  const word = commit.rank > 0 ? "needed by " : "from ";
  return [
    tests.length > 0 && word + counted(tests.length, commit.rank > 0 ? "test" : "task"),
    warnings > 0 && `${warnings} to watch`,
  ]
    .filter(Boolean)
    .join(" · ");
}
