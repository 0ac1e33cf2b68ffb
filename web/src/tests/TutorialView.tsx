import { useEffect, useState } from "preact/hooks";
import type { TutorialBlock as Block, Run, Status } from "../lib/records";
import { formatRoute } from "../lib/route";
import { pattern } from "../lib/search";
import { FAILING, lastStatus } from "../lib/status";
import { coverage, isUncovered, sections } from "../lib/tutorial";
import type { Filter } from "../shell/App";
import { Message } from "../shell/Message";
import { Name } from "../shell/Name";
import { TutorialBlock } from "./TutorialBlock";

type Only = "all" | "failing" | "uncovered" | "gaps";

interface Props {
  run: Run;
  block: string | undefined;
  filter: Filter;
}

/** The tutorial as a document, each block beside its tests and their last status. */
export function TutorialView({ run, block, filter }: Props) {
  const [only, setOnly] = useState<Only>("all");
  const blocks = run.tutorial?.blocks ?? [];
  const isKnown = block === undefined || blocks.some((each) => each.id === block);
  useEffect(() => {
    if (block !== undefined) document.getElementById(`block-${block}`)?.scrollIntoView({ block: "center" });
  }, [block]);
  if (!run.tutorial) {
    const link = ["Its tests", formatRoute({ run: run.id })] as const;
    return <Message title="No tutorial" text="This run was made without a tutorial." link={link} />;
  }
  const regexp = pattern(filter.query);
  const shown = blocks.filter(
    (each) =>
      isOfKind(run, each, only) &&
      (filter.statuses.size === 0 || each.tests.some((test) => hasStatus(run, test, filter.statuses))) &&
      (!(regexp instanceof RegExp) || regexp.test(each.text)),
  );
  const parts = sections(shown);
  return (
    <div class="tutorial">
      <nav class="outline" aria-label="Sections">
        <Choices run={run} only={only} setOnly={setOnly} />
        <ul>
          {parts.map((section) => (
            <li key={section.blocks[0]?.id}>
              <a href={formatRoute({ run: run.id, view: "tutorial", block: section.blocks[0]?.id })}>
                <Name text={section.title || "Beginning"} />
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main class="document" aria-label="Tutorial">
        <p class="facts">
          <Name text={run.tutorial.file} />
        </p>
        {!isKnown && <p class="warning">The tutorial has no block “{block}”; it may have been edited since.</p>}
        {parts.map((section) => (
          <section key={section.blocks[0]?.id}>
            {section.title && (
              <h2>
                <Name text={section.title} />
              </h2>
            )}
            {section.blocks.map((each) => (
              <TutorialBlock key={each.id} run={run} block={each} isChosen={each.id === block} />
            ))}
          </section>
        ))}
        {shown.length === 0 && <p class="nothing">No such block.</p>}
      </main>
    </div>
  );
}

function Choices({ run, only, setOnly }: { run: Run; only: Only; setOnly: (only: Only) => void }) {
  const { commands, uncovered, gaps } = coverage(run);
  const failing = commands.filter((block) => isOfKind(run, block, "failing"));
  const choices: readonly [Only, string, number][] = [
    ["all", "blocks with commands", commands.length],
    ["failing", "with a failing test", failing.length],
    ["uncovered", "without a test", uncovered.length],
    ["gaps", "gaps", gaps.length],
  ];
  return (
    <div class="choices" role="group" aria-label="Blocks to show">
      {choices.map(([name, label, count]) => (
        <button
          type="button"
          key={name}
          disabled={count === 0}
          aria-pressed={only === name}
          onClick={() => setOnly(only === name ? "all" : name)}
        >
          <b>{count}</b> {label}
        </button>
      ))}
    </div>
  );
}

function isOfKind(run: Run, block: Block, only: Only): boolean {
  if (only === "uncovered") return isUncovered(block);
  if (only === "gaps") return block.kind === "gap";
  if (only === "all") return true;
  return block.tests.some((test) => hasStatus(run, test, FAILING));
}

function hasStatus(run: Run, test: string, statuses: ReadonlySet<Status>): boolean {
  const status = lastStatus(run, test);
  return status !== "not run" && statuses.has(status);
}
