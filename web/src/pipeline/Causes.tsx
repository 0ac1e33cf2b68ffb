import { useState } from "preact/hooks";
import { counted, failuresIn, fixedIn } from "../lib/pipeline";
import type { Run } from "../lib/records";
import { CauseCard } from "./CauseCard";

const AT_FIRST = 12;

/** Why tests failed, like with like: the first thing to read. */
export function Causes({ run, chosen }: { run: Run; chosen: string | undefined }) {
  const [isWhole, setWhole] = useState(false);
  const { causes } = run;
  const at = causes.findIndex((cause) => cause.id === chosen);
  const shown = isWhole || at >= AT_FIRST ? causes : causes.slice(0, AT_FIRST);
  const [failures, fixed] = [failuresIn(causes), fixedIn(causes)];
  return (
    <section class="causes" id="causes" aria-label="Causes">
      <p class="headline">
        {causes.length ? `${counted(failures, "failure")}, ${counted(causes.length, "cause")}` : "No failures"}
        {fixed > 0 && <small class="good">{fixed === failures ? "all fixed" : `${fixed} fixed`}</small>}
      </p>
      {shown.map((cause) => (
        <CauseCard key={cause.id} run={run} cause={cause} isChosen={cause.id === chosen} />
      ))}
      {shown.length < causes.length && (
        <button type="button" class="fold" onClick={() => setWhole(true)}>
          show {causes.length - shown.length} more causes
        </button>
      )}
    </section>
  );
}
