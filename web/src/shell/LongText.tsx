import { useState } from "preact/hooks";
import { visible } from "../lib/ansi";

const LINES = 14;
const CHARACTERS = 1600;

/** Text as it was written, nothing left out and nothing interpreted; a long one is folded until it is opened. */
export function LongText({ text, isCode = false }: { text: string; isCode?: boolean }) {
  const [isWhole, setWhole] = useState(false);
  const short = shortened(text);
  const isCut = !isWhole && text.length > short.length * 1.2;
  return (
    <div class={isCode ? "words code" : "words"}>
      {visible(isCut ? short : text)}
      {isCut && (
        <button type="button" class="fold" onClick={() => setWhole(true)}>
          show all {text.length.toLocaleString()} characters
        </button>
      )}
    </div>
  );
}

function shortened(text: string): string {
  return text
    .split("\n", LINES + 1)
    .slice(0, LINES)
    .join("\n")
    .slice(0, CHARACTERS);
}
