import type { Cast, ConversationTurn, Seek } from "../lib/records";
import { clock } from "../lib/time";
import { LongText } from "../shell/LongText";
import { Name } from "../shell/Name";

interface Props {
  turns: readonly ConversationTurn[];
  casts: readonly Cast[];
  isRunning: boolean;
  play: (seek: Seek, title: string) => void;
}

/** The messages to and from the agent and what it did, beside the recording of its terminal. */
export function Conversation({ turns, casts, isRunning, play }: Props) {
  return (
    <section class="conversation" aria-label="Conversation">
      <h3>Conversation</h3>
      {turns.length === 0 && (
        <p class="nothing">{isRunning ? "It is fetched when the agent is done." : "No conversation was fetched."}</p>
      )}
      <ol>
        {turns.map((turn, at) => (
          <li key={at} class={`turn is-${["user", "agent", "tool"].find((role) => role === turn.role) ?? "other"}`}>
            <span class="role">
              <Name text={turn.role} />
              {seeksOf(turn, casts).map((seek) => (
                <button
                  type="button"
                  class="play"
                  key={seek.cast}
                  onClick={() => play(seek, turn.text.split("\n", 1)[0] ?? "")}
                  title="Show this second of the recording"
                >
                  ▶ {clock(seek.second)}
                </button>
              ))}
            </span>
            <LongText text={turn.text} isCode={turn.role === "tool"} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function seeksOf(turn: ConversationTurn, casts: readonly Cast[]): readonly Seek[] {
  return casts.flatMap(({ start, duration_s }, cast) => {
    const second = turn.at - start;
    return turn.at > 0 && start > 0 && second >= -1 && second <= duration_s + 1
      ? [{ cast, second: Math.min(Math.max(second, 0), duration_s) }]
      : [];
  });
}
