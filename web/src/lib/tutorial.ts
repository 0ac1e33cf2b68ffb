import type { Run, TutorialBlock } from "./records";

export interface Coverage {
  readonly commands: readonly TutorialBlock[];
  readonly uncovered: readonly TutorialBlock[];
  readonly gaps: readonly TutorialBlock[];
}

export function coverage(run: Run): Coverage {
  const blocks = run.tutorial?.blocks ?? [];
  return {
    commands: blocks.filter((block) => block.kind === "command"),
    uncovered: blocks.filter(isUncovered),
    gaps: blocks.filter((block) => block.kind === "gap"),
  };
}

export function isUncovered(block: TutorialBlock): boolean {
  return block.kind === "command" && block.tests.length === 0;
}

export interface Section {
  readonly title: string;
  readonly blocks: readonly TutorialBlock[];
}

/** Blocks in their order, cut where the section changes. */
export function sections(blocks: readonly TutorialBlock[]): readonly Section[] {
  const found: { title: string; blocks: TutorialBlock[] }[] = [];
  for (const block of blocks) {
    const last = found.at(-1);
    if (last && last.title === block.section && block.kind !== "banner") last.blocks.push(block);
    else found.push({ title: block.section, blocks: [block] });
  }
  return found;
}
