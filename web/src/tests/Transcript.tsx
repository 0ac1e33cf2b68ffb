import { blockWith } from "../lib/cited";
import type { Seek, ShownCommand, TutorialBlock } from "../lib/records";
import type { Route } from "../lib/route";
import { CommandEntry } from "./CommandEntry";

interface Props {
  commands: readonly ShownCommand[];
  blocks: readonly TutorialBlock[];
  place: Partial<Route>;
  chosen: number | undefined;
  isRunning: boolean;
  play: (seek: Seek, title: string) => void;
}

/** The commands of an attempt with their output, in their order. */
export function Transcript({ commands, blocks, place, chosen, isRunning, play }: Props) {
  return (
    <section class="transcript" aria-label="Transcript">
      {commands.length === 0 && <p class="nothing">{isRunning ? "No command yet." : "No command was run."}</p>}
      {chosen !== undefined && chosen > commands.length && !isRunning && (
        <p class="note">This attempt has no command {chosen}.</p>
      )}
      <ol>
        {commands.map((command, at) => (
          <CommandEntry
            key={at}
            {...{ command, place, play, isRunning }}
            number={at + 1}
            block={blockWith(blocks, command)}
            isChosen={chosen === at + 1}
          />
        ))}
      </ol>
    </section>
  );
}
