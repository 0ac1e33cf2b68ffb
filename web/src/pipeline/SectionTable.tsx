import { useEffect, useRef, useState } from "preact/hooks";
import { type Group, rankOf } from "../lib/pipeline";
import type { Run, Test } from "../lib/records";
import { formatRoute } from "../lib/route";
import { Name } from "../shell/Name";
import { StatusMark } from "../shell/StatusMark";
import { ClaimAndCheck } from "./ClaimAndCheck";

const FINDINGS_AT_FIRST = 40;
const OTHERS_AT_FIRST = 5;

/** One section of a pipeline's rows: what it means, how many, and the rows. */
export function SectionTable({ run, group, isChosen }: { run: Run; group: Required<Group>; isChosen: boolean }) {
  const [isWhole, setWhole] = useState(isChosen);
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!isChosen) return;
    setWhole(true);
    element.current?.scrollIntoView({ block: "start" });
  }, [isChosen]);
  const { section, tests } = group;
  const most = section.is_finding ? FINDINGS_AT_FIRST : OTHERS_AT_FIRST;
  const shown = isWhole || tests.length <= most + 2 ? tests : tests.slice(0, most);
  return (
    <section
      class={section.is_finding ? "section finding" : "section"}
      ref={element}
      aria-label={section.title}
      aria-current={isChosen ? "true" : undefined}
    >
      <h3>
        <a href={formatRoute({ run: run.id, part: "section", item: section.id })}>
          <Name text={section.title} />
        </a>{" "}
        <b class="count">{tests.length.toLocaleString()}</b>
        <small>
          <Name text={section.about} />
        </small>
      </h3>
      <ul class="table">
        {shown.map((test) => (
          <li key={test.id}>
            <SectionRow run={run} test={test} />
          </li>
        ))}
      </ul>
      {shown.length < tests.length && (
        <button type="button" class="fold" onClick={() => setWhole(true)}>
          show {(tests.length - shown.length).toLocaleString()} more
        </button>
      )}
    </section>
  );
}

function SectionRow({ run, test }: { run: Run; test: Test }) {
  const rank = rankOf(test);
  return (
    <a href={formatRoute({ run: run.id, test: test.id })}>
      <StatusMark status={test.status} />
      <span class="name">
        {rank > 0 && <b class="rank">{rank}</b>}
        <Name text={test.name} title={test.id} />
      </span>
      <span class="reason">
        <Name text={test.reason || test.file} title={test.reason} />
      </span>
      {test.work ? <ClaimAndCheck work={test.work} /> : <span />}
    </a>
  );
}
