import { useState } from "preact/hooks";
import { rowOf } from "../lib/pipeline";
import type { MeasuredOutcome, Run, TestMeasurement } from "../lib/records";
import { formatRoute } from "../lib/route";
import { Name } from "../shell/Name";
import { tone } from "./ClaimAndCheck";

const AT_FIRST = 12;
const PLACES = ["base", "agent", "tip"] as const;

/** Every test at the base, at its agent's commit and at the tip of the branch; what does not pass at the tip first. */
export function MeasuredTable({ run }: { run: Run }) {
  const [isWhole, setWhole] = useState(false);
  if (run.measured.length === 0) return null;
  const sorted = run.measured.toSorted((one, other) => Number(passes(one)) - Number(passes(other)));
  const shown = isWhole ? sorted : sorted.slice(0, AT_FIRST);
  return (
    <section aria-label="Measured">
      <h3>
        <Name text={run.headline} />
      </h3>
      <table class="measured">
        <thead>
          <tr>
            <td />
            <th scope="col">base</th>
            <th scope="col">its agent's commit</th>
            <th scope="col">branch</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={row.test}>
              <th scope="row">
                <a href={formatRoute({ run: run.id, test: row.test })} title={row.test}>
                  <Name text={rowOf(run, row.test)?.name ?? row.test} />
                </a>
              </th>
              {PLACES.map((place) => (
                <Cell key={place} seen={row[place]} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length < sorted.length && (
        <button type="button" class="fold" onClick={() => setWhole(true)}>
          show {sorted.length - shown.length} more
        </button>
      )}
    </section>
  );
}

function passes(row: TestMeasurement): boolean {
  return row.tip.outcome === "passed";
}

function Cell({ seen }: { seen: MeasuredOutcome }) {
  return (
    <td class={tone(seen.outcome)} title={seen.reason}>
      {seen.outcome ? <Name text={seen.outcome.replaceAll("_", " ")} /> : "–"}
    </td>
  );
}
