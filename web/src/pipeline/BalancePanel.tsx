import { amount, barOf, expectedWords, placeOf, usedWords } from "../lib/balance";
import { counted } from "../lib/pipeline";
import type { Figure, LeftOut, Meter, Run } from "../lib/records";
import { formatRoute } from "../lib/route";
import { Disclosure } from "../shell/Disclosure";
import { Name } from "../shell/Name";
import { TestLinks } from "./TestLinks";

const NAMES = { usd: "dollars", tokens: "tokens", seconds: "time" };

/** What the run cost, what that was good for, what is left to look at, and what was left out; each where it is known. */
export function BalancePanel({ run }: { run: Run }) {
  if (!run.balance) return null;
  const { meters, worth, attention, left_out } = run.balance;
  if (meters.length + worth.length + attention.length + left_out.length === 0) return null;
  return (
    <section class="balance" aria-label="Cost and worth">
      {meters.length > 0 && (
        <div class="costs">
          <h3>What it cost</h3>
          {meters.map((meter) => (
            <MeterBar key={meter.unit} meter={meter} />
          ))}
        </div>
      )}
      <Figures {...{ run, title: "What it was worth", figures: worth }} />
      <Figures {...{ run, title: "What to look at", figures: attention }} />
      {left_out.length > 0 && <LeftOutList {...{ run, left_out }} />}
    </section>
  );
}

function MeterBar({ meter }: { meter: Meter }) {
  const bar = barOf(meter);
  const expected = expectedWords(meter);
  const words = [usedWords(meter), expected, meter.note].filter(Boolean).join("; ");
  return (
    <div class={bar.isOver ? "meter over" : "meter"}>
      <p>
        <b>{amount(meter.unit, meter.used)}</b>
        {meter.limit !== null && <span> of {amount(meter.unit, meter.limit)}</span>}
        {meter.unit === "tokens" && <span> tokens</span>}
        {meter.reserved > 0 && <small>{amount(meter.unit, meter.reserved)} set aside</small>}
      </p>
      <div class="scale" role="img" aria-label={`${NAMES[meter.unit]}: ${words}`} title={words}>
        <i class="used" style={{ width: `${bar.used}%` }} />
        <i class="reserved" style={{ width: `${bar.reserved}%` }} />
        {bar.expected && (
          <i class="expected" style={{ left: `${bar.expected.left}%`, width: `${bar.expected.width}%` }} />
        )}
        {bar.limit !== null && <i class="limit" style={{ left: `${bar.limit}%` }} />}
      </div>
      {expected && <small title={meter.note}>{expected}</small>}
    </div>
  );
}

function Figures({ run, title, figures }: { run: Run; title: string; figures: readonly Figure[] }) {
  if (figures.length === 0) return null;
  return (
    <div class="figures">
      <h3>{title}</h3>
      <ul>
        {figures.map((figure) => (
          <li key={figure.label} class={figure.tone || undefined}>
            <FigureLink {...{ run, figure }} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function FigureLink({ run, figure }: { run: Run; figure: Figure }) {
  const place = placeOf(run, figure);
  const words = (
    <>
      <b>
        <Name text={figure.value} />
      </b>{" "}
      <Name text={figure.label} />
    </>
  );
  return place ? <a href={formatRoute(place)}>{words}</a> : <span>{words}</span>;
}

function LeftOutList({ run, left_out }: { run: Run; left_out: readonly LeftOut[] }) {
  return (
    <div class="left-out">
      <h3>Without an agent</h3>
      {left_out.map(({ reason, tests }) => (
        <Disclosure
          key={reason}
          class="cause"
          summary={
            <>
              <b class="count" title={counted(tests.length, "test")}>
                {tests.length}×
              </b>
              <span class="title">
                <Name text={reason} />
              </span>
            </>
          }
        >
          {() => (
            <div class="inside">
              <TestLinks run={run} tests={tests} />
            </div>
          )}
        </Disclosure>
      ))}
    </div>
  );
}
