import { commitOf, isFixed } from "../lib/pipeline";
import type { Cause, Run } from "../lib/records";
import { formatRoute } from "../lib/route";
import { Disclosure } from "../shell/Disclosure";
import { Name } from "../shell/Name";
import { Failure } from "../tests/Failure";
import { TestLinks } from "./TestLinks";

/** Failures that look alike; opened, the tests that have it and one of them in its own words. */
export function CauseCard({ run, cause, isChosen }: { run: Run; cause: Cause; isChosen: boolean }) {
  return (
    <Disclosure
      class={isFixed(cause) ? "cause fixed" : "cause"}
      isWanted={isChosen}
      summary={<Summary cause={cause} />}
    >
      {() => (
        <div class="inside">
          <TestLinks run={run} tests={cause.tests} marked={cause.fixed} word="fixed" />
          <Fix run={run} id={cause.fix} />
          {cause.likely && (
            <p class="note">
              Likely cause: <Name text={cause.likely} />
            </p>
          )}
          {cause.others.map((title) => (
            <p class="note" key={title}>
              It also shows as: <Name text={title} />
            </p>
          ))}
          <Failure text={cause.example} />
        </div>
      )}
    </Disclosure>
  );
}

function Summary({ cause }: { cause: Cause }) {
  return (
    <>
      <b class="count" title={`${cause.tests.length} of the tests have it`}>
        {cause.tests.length}×
      </b>
      <span class="title">
        <Name text={withoutException(cause)} />
      </span>
      <span class="tags">
        <Tag name="stage" text={cause.stage} />
        <Tag name="exception" text={cause.exception} />
        <Tag name="frame" text={cause.frame} />
        {cause.fixed.length > 0 && (
          <span class="tag good">
            {isFixed(cause) ? "fixed" : `${cause.fixed.length} of ${cause.tests.length} fixed`}
          </span>
        )}
      </span>
    </>
  );
}

function Fix({ run, id }: { run: Run; id: string }) {
  const commit = commitOf(run, id);
  if (!commit) return null;
  return (
    <p class="note">
      Fixed by{" "}
      <a href={formatRoute({ run: run.id, view: "branch", commit: commit.id })}>
        <Name text={commit.title} />
      </a>
    </p>
  );
}

function Tag({ name, text }: { name: string; text: string }) {
  if (!text) return null;
  return (
    <span class={`tag is-${name}`} title={name}>
      <Name text={text} />
    </span>
  );
}

/** The message alone, where the exception stands beside it. */
function withoutException({ title, exception }: Cause): string {
  const at = exception ? title.indexOf(`${exception}:`) : -1;
  const isFirst = at >= 0 && /^[\w.]*$/.test(title.slice(0, at));
  return (isFirst && title.slice(at + exception.length + 1).trim()) || title;
}
