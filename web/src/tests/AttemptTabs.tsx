import type { Attempt, Test } from "../lib/records";
import { formatRoute } from "../lib/route";
import { Name } from "../shell/Name";
import { StatusMark } from "../shell/StatusMark";

interface Props {
  run: string;
  test: Test;
  chosen: number | undefined;
}

/** One tab for each attempt of a test that had several; where agents had several too, tries are inside theirs. */
export function AttemptTabs({ run, test, chosen }: Props) {
  const { attempts } = test;
  if (attempts.length < 2) return null;
  const agents = attempts.filter((attempt) => attempt.kind === "agent");
  const opened = agents.findLast((agent) => agent.number <= (chosen ?? 0));
  const inside = opened && agents.length > 1 ? insideOf(attempts, opened) : [];
  const hasInner = inside.length > 1;
  const outer = agents.length > 1 ? attempts.filter((each) => !agentOf(attempts, each)) : attempts;
  const tabs = (some: readonly Attempt[], current: number | undefined) =>
    some.map((attempt) => (
      <Tab key={attempt.number} {...{ run, test, attempt }} isChosen={attempt.number === current} />
    ));
  return (
    <>
      <nav class="tabs" aria-label="Attempts">
        {tabs(outer, hasInner ? opened?.number : chosen)}
      </nav>
      {hasInner && (
        <nav class="tabs tries" aria-label="Tries">
          {tabs(inside, chosen)}
        </nav>
      )}
    </>
  );
}

/** An agent's attempt and what belongs to it, up to the next agent's. */
function insideOf(attempts: readonly Attempt[], agent: Attempt): readonly Attempt[] {
  return attempts.filter((attempt) => attempt === agent || agentOf(attempts, attempt) === agent);
}

/** Whose try it is, or whose commit was checked. */
function agentOf(attempts: readonly Attempt[], attempt: Attempt): Attempt | undefined {
  if (attempt.kind === "agent") return undefined;
  return attempts.findLast((each) => each.kind === "agent" && each.number < attempt.number);
}

function Tab({ run, test, attempt, isChosen }: { run: string; test: Test; attempt: Attempt; isChosen: boolean }) {
  const key = test.attempts.indexOf(attempt) + 1;
  return (
    <a
      href={formatRoute({ run, test: test.id, attempt: attempt.number })}
      aria-current={isChosen ? "true" : undefined}
      title={key <= 9 ? `Key ${key}` : undefined}
    >
      <StatusMark status={attempt.status} /> <Name text={attempt.label || `Attempt ${attempt.number}`} />
    </a>
  );
}
