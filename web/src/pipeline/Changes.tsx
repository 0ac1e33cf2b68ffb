import { commitName, commitOf, short } from "../lib/pipeline";
import type { Run, Work, WorkChange, WorkCommit } from "../lib/records";
import { formatRoute } from "../lib/route";
import { Name } from "../shell/Name";

/** What the agent changed, in its words and commit by commit, and where each commit is on the branch. */
export function Changes({ run, work }: { run: Run; work: Work }) {
  if (work.changes.length + work.commits.length + work.merged.length === 0) return null;
  return (
    <section class="changes" aria-label="Changes">
      <h3>Changes</h3>
      {work.changes.map((change, at) => (
        <Described key={at} change={change} />
      ))}
      <ul>
        {work.commits.map((commit) => (
          <li key={commit.id}>
            <OneCommit run={run} commit={commit} />
          </li>
        ))}
      </ul>
      <p class="merged">
        {work.merged.map((merged) => (
          <a
            class="tag good"
            key={merged.commit}
            href={formatRoute({ run: run.id, view: "branch", commit: merged.commit })}
            title={`${HOW.get(merged.how) ?? merged.how} ${short(merged.commit)}`}
          >
            {HOW.get(merged.how) ?? merged.how} {commitName(merged.rank)}
            {merged.title && (
              <>
                : <Name text={merged.title} />
              </>
            )}
          </a>
        ))}
        {work.branch && (
          <span class="facts">
            on <code>{short(work.commit)}</code> of <Name text={work.branch} />
          </span>
        )}
      </p>
    </section>
  );
}

const HOW: ReadonlyMap<string, string> = new Map([
  ["squashed", "squashed into"],
  ["separate", "merged as"],
  ["merged_into", "the same as"],
]);

function Described({ change }: { change: WorkChange }) {
  return (
    <p class="described">
      <span class="tag">
        <Name text={change.kind} />
      </span>
      <span class="tag" title="by its agent: 1 cosmetic, 5 people lose work">
        importance {change.importance}
      </span>{" "}
      <Name text={change.summary} />
      {change.reason && (
        <small>
          <Name text={change.reason} />
        </small>
      )}
    </p>
  );
}

function OneCommit({ run, commit }: { run: Run; commit: WorkCommit }) {
  const on = commitOf(run, commit.into || commit.id);
  return (
    <>
      {on ? (
        <a href={formatRoute({ run: run.id, view: "branch", commit: on.id })} title="Show it on the branch">
          <code>{short(commit.id)}</code>
        </a>
      ) : (
        <code>{short(commit.id)}</code>
      )}
      <span class="subject">
        <Name text={commit.subject} title={commit.paths.join("\n")} />
      </span>
      <span class="tag">
        <Name text={commit.kind} />
      </span>
      {commit.claimed && commit.claimed !== commit.kind && (
        <span class="tag bad">
          its agent calls it <Name text={commit.claimed} />
        </span>
      )}
    </>
  );
}
