import { counted } from "../lib/pipeline";
import type { Matter, Run } from "../lib/records";
import { Disclosure } from "../shell/Disclosure";
import { LongText } from "../shell/LongText";
import { Name } from "../shell/Name";
import { TestLinks } from "./TestLinks";

/** What agents want a person to look at, by kind, whatever became of their tests. */
export function Matters({ run, chosen }: { run: Run; chosen: string | undefined }) {
  if (run.matters.length === 0) return null;
  const kinds = [...new Set(run.matters.map((matter) => matter.kind))];
  return (
    <section class="matters" id="matters" aria-label="Raised by agents">
      <h3>
        Raised by agents <b class="count">{run.matters.length}</b>
      </h3>
      {kinds.map((kind) => (
        <div class="kind" key={kind}>
          <h4>
            <Name text={kind} />
          </h4>
          {run.matters.map((matter, at) =>
            matter.kind === kind ? (
              <MatterCard key={at} {...{ run, matter }} isChosen={chosen === String(at + 1)} />
            ) : null,
          )}
        </div>
      ))}
    </section>
  );
}

function MatterCard({ run, matter, isChosen }: { run: Run; matter: Matter; isChosen: boolean }) {
  const summary = (
    <>
      <b class="count" title={`raised by ${counted(matter.tests.length, "agent")}`}>
        {matter.tests.length}×
      </b>
      <span class="title">
        <Name text={matter.title} />
      </span>
    </>
  );
  return (
    <Disclosure class="cause matter" isWanted={isChosen} summary={summary}>
      {() => (
        <div class="inside">
          {matter.details.map((detail, at) => (
            <LongText key={at} text={detail} />
          ))}
          {matter.locations.length > 0 && (
            <ul class="paths">
              {matter.locations.map((place) => (
                <li key={place}>
                  <Name text={place} />
                </li>
              ))}
            </ul>
          )}
          <TestLinks run={run} tests={matter.tests} />
        </div>
      )}
    </Disclosure>
  );
}
