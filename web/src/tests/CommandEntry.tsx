import { useEffect, useMemo, useRef } from "preact/hooks";
import { plain } from "../lib/ansi";
import { linesOf, splitLines } from "../lib/lines";
import type { Seek, ShownCommand, TutorialBlock } from "../lib/records";
import { formatRoute, type Route } from "../lib/route";
import { clock, duration } from "../lib/time";
import { CopyButton } from "../shell/CopyButton";
import { TerminalLines } from "../terminal/TerminalLines";

interface Props {
  command: ShownCommand;
  number: number;
  block: TutorialBlock | undefined;
  place: Partial<Route>;
  isChosen: boolean;
  isRunning: boolean;
  play: (seek: Seek, title: string) => void;
}

/** One command: what it is for, what was typed, what came out, how it ended. */
export function CommandEntry({ command, number, block, place, isChosen, isRunning, play }: Props) {
  const entry = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isChosen) entry.current?.scrollIntoView({ block: "start" });
  }, [isChosen]);
  const lines = useMemo(
    () => linesOf(command.output).map(({ stream, text }) => ({ kind: stream, text })),
    [command.output],
  );
  return (
    <li class="entry" ref={entry} aria-current={isChosen ? "true" : undefined}>
      {splitLines(command.comment).map((line, at) => (
        <div class="line comment" key={at}>
          {plain(line)}
        </div>
      ))}
      <div class="typed">
        <a class="number" href={formatRoute({ ...place, command: number })} title="Link to this command">
          {number}
        </a>
        <pre class="line command" title={command.cwd && `in ${plain(command.cwd)}`}>
          {plain(command.command)}
        </pre>
        <span class="actions">
          {command.seeks.map((seek) => (
            <button
              type="button"
              class="play"
              key={`${seek.cast} ${seek.second}`}
              onClick={() => play(seek, command.command)}
              title="Show this second of the recording"
            >
              ▶ {clock(seek.second)}
            </button>
          ))}
          {block && (
            <a
              class="copy"
              href={formatRoute({ run: place.run, view: "tutorial", block: block.id })}
              title="Its block of the tutorial"
            >
              line {block.first_line}
            </a>
          )}
          <CopyButton text={command.command} />
        </span>
      </div>
      <TerminalLines lines={lines} />
      <Ending command={command} isRunning={isRunning} />
    </li>
  );
}

function Ending({ command, isRunning }: { command: ShownCommand; isRunning: boolean }) {
  const took = duration(command.duration_s);
  if (command.is_timed_out) return <div class="line exit bad">timed out after {took}</div>;
  if (command.exit_code === null) {
    if (command.terminal) return <div class="line exit">on a terminal</div>;
    return <div class="line exit open">{isRunning ? "still running" : "never ended"}</div>;
  }
  return (
    <div class={`line exit ${command.exit_code === 0 ? "good" : "bad"}`}>
      exit {command.exit_code} <span class="took">{took}</span>
    </div>
  );
}
