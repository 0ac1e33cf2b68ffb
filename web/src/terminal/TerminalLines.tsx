import { useMemo, useState } from "preact/hooks";
import { AnsiReader, type Piece } from "../lib/ansi";
import { AnsiText } from "./AnsiText";

/** A line with the name of its kind, which is also its CSS class. */
export interface KindOfLine {
  readonly kind: string;
  readonly text: string;
}

const HEAD = 16;
const TAIL = 10;
const STEP = 5000;
const LONGEST = 2000;

interface Drawn extends KindOfLine {
  readonly pieces: readonly Piece[];
}

/** Terminal lines; a long middle is folded away until it is opened. */
export function TerminalLines({ lines }: { lines: readonly KindOfLine[] }) {
  const [head, setHead] = useState(HEAD);
  const hidden = lines.length - head - TAIL;
  const isFolded = hidden > 5;
  const drawn = useMemo(() => draw(lines, isFolded ? head : lines.length), [lines, isFolded, head]);
  return (
    <>
      {drawn.slice(0, isFolded ? head : undefined).map((line, at) => (
        <OneLine key={at} line={line} />
      ))}
      {isFolded && (
        <button type="button" class="fold" onClick={() => setHead(head + STEP)}>
          show {Math.min(hidden, STEP).toLocaleString()} {hidden > STEP && `of ${hidden.toLocaleString()} `}more lines
        </button>
      )}
      {isFolded && drawn.slice(head).map((line, at) => <OneLine key={`end ${at}`} line={line} />)}
    </>
  );
}

function OneLine({ line }: { line: Drawn }) {
  const [isWhole, setWhole] = useState(false);
  const isCut = line.text.length > LONGEST && !isWhole;
  const pieces = isCut ? firstOf(line.pieces, LONGEST) : line.pieces;
  return (
    <div class={`line ${line.kind}`}>
      <AnsiText pieces={pieces} />
      {isCut && (
        <button type="button" class="fold" onClick={() => setWhole(true)}>
          show all {line.text.length.toLocaleString()} characters
        </button>
      )}
    </div>
  );
}

/** Reads every line, since colours last, but keeps only the first `head` and the last ones. */
function draw(lines: readonly KindOfLine[], head: number): readonly Drawn[] {
  const readers = new Map<string, AnsiReader>();
  const drawn: Drawn[] = [];
  lines.forEach((line, at) => {
    const reader = readers.get(line.kind) ?? new AnsiReader();
    readers.set(line.kind, reader);
    if (at < head || at >= lines.length - TAIL) drawn.push({ ...line, pieces: reader.read(line.text) });
    else reader.skip(line.text);
  });
  return drawn;
}

function firstOf(pieces: readonly Piece[], most: number): readonly Piece[] {
  const kept: Piece[] = [];
  let left = most;
  for (const piece of pieces) {
    if (left <= 0) break;
    kept.push({ ...piece, text: piece.text.slice(0, left) });
    left -= piece.text.length;
  }
  return kept;
}
