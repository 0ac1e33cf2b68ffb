import type { Run, ShownCommand, Test, TutorialBlock } from "./records";

/** The tutorial's blocks that a test stands for. */
export function blocksOf(run: Run, test: Test): readonly TutorialBlock[] {
  const ids = new Set(test.blocks);
  return ids.size ? (run.tutorial?.blocks ?? []).filter((block) => ids.has(block.id)) : [];
}

/** The block that has this command as one of its lines, so that a transcript leads back to the tutorial. */
export function blockWith(blocks: readonly TutorialBlock[], command: ShownCommand): TutorialBlock | undefined {
  const typed = command.command.trim();
  return blocks.find((block) => block.text.split("\n").some((line) => line.trim() === typed));
}

/** The number of the first command that is this line of a block. */
export function numberOf(commands: readonly ShownCommand[], line: string): number | undefined {
  const at = commands.findIndex((command) => command.command.trim() === line.trim());
  return at < 0 ? undefined : at + 1;
}
