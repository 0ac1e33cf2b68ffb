import { rankOf } from "../lib/pipeline";
import type { Run, Test } from "../lib/records";
import { formatRoute } from "../lib/route";
import { Name } from "../shell/Name";

/** The section that a row is in, linked to it; a fix with its rank. */
export function SectionBadge({ run, test }: { run: Run; test: Test }) {
  const section = run.sections.find((each) => each.id === test.section);
  if (!section) return null;
  const rank = rankOf(test);
  return (
    <a
      class={section.is_finding ? "badge finding" : "badge"}
      href={formatRoute({ run: run.id, part: "section", item: section.id })}
      title={section.about}
    >
      <Name text={section.title} />
      {rank > 0 && `, fix ${rank}`}
    </a>
  );
}
