import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { plain } from "../lib/ansi";
import { problemOf } from "../lib/problem";
import type { Cast, Detail } from "../lib/records";
import type { Source } from "../lib/source";
import { clock } from "../lib/time";
import { Name } from "../shell/Name";
import { Player } from "./Player";

/** A second of a recording that was asked for; each request is a new object. */
export interface Wish {
  readonly cast: number;
  readonly second: number;
  readonly title: string;
}

interface Props {
  detail: Detail;
  wish: Wish | null;
  source: Source;
}

/** The recordings of an attempt, one shown at a time. */
export function Recordings({ detail, wish, source }: Props) {
  const [chosen, setChosen] = useState(0);
  const panel = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    if (!wish) return;
    setChosen(wish.cast);
    panel.current?.scrollIntoView({ block: "nearest" });
  }, [wish]);
  const cast = detail.casts[chosen];
  const own = wish?.cast === chosen ? wish : null;
  return (
    <aside class="recordings" ref={panel} aria-label="Recordings">
      <div class="tabs" role="tablist">
        {detail.casts.map((each, at) => (
          <button type="button" key={each.chunk} role="tab" aria-selected={at === chosen} onClick={() => setChosen(at)}>
            <Name text={each.title} /> <small>{clock(each.duration_s)}</small>
          </button>
        ))}
      </div>
      {cast ? (
        <Recording key={cast.chunk} cast={cast} wish={own} source={source} marks={marksOf(detail, chosen)} />
      ) : (
        <p class="note">This recording is not here.</p>
      )}
    </aside>
  );
}

interface RecordingProps {
  cast: Cast;
  wish: Wish | null;
  source: Source;
  marks: readonly [number, string][];
}

function Recording({ cast, wish, source, marks }: RecordingProps) {
  const [read, setRead] = useState<{ text: string; duration_s: number } | null>(null);
  const [problem, setProblem] = useState("");
  const [times, setTimes] = useState(0);
  useEffect(() => {
    source.cast(cast.chunk).then(
      (text) => setRead({ text, duration_s: cast.duration_s }),
      (error) => setProblem(problemOf(error)),
    );
  }, [source, cast.chunk, times]);
  const readAgain = () => {
    source.forget([cast.chunk]);
    setTimes(times + 1);
  };
  const hasGrown = source.isLive && read !== null && cast.duration_s > read.duration_s + 0.5;
  return (
    <>
      <div class="stage" style={{ aspectRatio: `${cast.cols * 0.6 + 1.5} / ${cast.rows * 1.333 + 1.5}` }}>
        {read && <Player text={read.text} duration_s={read.duration_s} wish={wish} marks={marks} />}
      </div>
      <p class="at" role="status">
        {wish ? (
          <>
            {clock(wish.second)} <code>$ {plain(wish.title)}</code>
          </>
        ) : (
          <>
            {cast.cols}×{cast.rows}
          </>
        )}
        {hasGrown && (
          <button type="button" onClick={readAgain}>
            load the newest seconds
          </button>
        )}
      </p>
      {(problem || cast.problem) && (
        <p class="warning">
          <Name text={problem || cast.problem} />
        </p>
      )}
    </>
  );
}

function marksOf(detail: Detail, cast: number): readonly [number, string][] {
  return detail.commands.flatMap((command) =>
    command.seeks
      .filter((seek) => seek.cast === cast)
      .map((seek): [number, string] => [seek.second, plain(command.command).slice(0, 60)]),
  );
}
