import { isPipeline } from "../lib/pipeline";
import type { Run } from "../lib/records";
import { formatRoute, type View } from "../lib/route";

const NAMES: Readonly<Record<View, string>> = {
  tests: "Tests",
  branch: "Branch",
  timeline: "Timeline",
  tutorial: "Tutorial",
};

/** The ways to look at a run; nothing where there is only one. */
export function Views({ run, view }: { run: Run; view: View }) {
  const views: readonly View[] = [
    "tests",
    ...(isPipeline(run) ? (["branch", "timeline"] as const) : []),
    ...(run.tutorial ? (["tutorial"] as const) : []),
  ];
  if (views.length === 1) return null;
  return (
    <nav class="views" aria-label="Views">
      {views.map((each) => (
        <a key={each} href={formatRoute({ run: run.id, view: each })} aria-current={each === view ? "page" : undefined}>
          {NAMES[each]}
        </a>
      ))}
    </nav>
  );
}
