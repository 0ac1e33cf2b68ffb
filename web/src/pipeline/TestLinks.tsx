import { useState } from "preact/hooks";
import { rowOf } from "../lib/pipeline";
import type { Run } from "../lib/records";
import { formatRoute } from "../lib/route";
import { Name } from "../shell/Name";
import { StatusMark } from "../shell/StatusMark";

const AT_FIRST = 12;

interface Props {
  run: Run;
  tests: readonly string[];
  /** Those of them that get a word beside their name. */
  marked?: readonly string[];
  word?: string;
}

/** Tests by their ids, each linked to its row; many are folded until opened. */
export function TestLinks({ run, tests, marked = [], word = "" }: Props) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? tests : tests.slice(0, AT_FIRST);
  const chosen = new Set(marked);
  return (
    <ul class="links">
      {shown.map((id) => (
        <li key={id}>
          <TestLink run={run} id={id} />
          {chosen.has(id) && <em>{word}</em>}
        </li>
      ))}
      {shown.length < tests.length && (
        <li>
          <button type="button" class="fold" onClick={() => setWhole(true)}>
            show {tests.length - shown.length} more
          </button>
        </li>
      )}
    </ul>
  );
}

function TestLink({ run, id }: { run: Run; id: string }) {
  const row = rowOf(run, id);
  if (!row) {
    return (
      <span class="absent">
        <Name text={id} />
      </span>
    );
  }
  return (
    <a href={formatRoute({ run: run.id, test: id })} title={id}>
      <StatusMark status={row.status} /> <Name text={row.name} />
    </a>
  );
}
