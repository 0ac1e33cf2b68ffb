import { useMemo } from "preact/hooks";
import { visible } from "../lib/ansi";
import { blocksOf, spansOf } from "../lib/prose";

const MOST = 20_000;

/** An agent's own words, lightly set; whatever they are, they only ever become text. */
export function Prose({ text }: { text: string }) {
  const blocks = useMemo(() => blocksOf(text.slice(0, MOST)), [text]);
  return (
    <div class="prose">
      {blocks.map((block, at) =>
        block.kind === "code" ? (
          <pre key={at}>{visible(block.text)}</pre>
        ) : (
          <p key={at} class={`is-${block.kind}`}>
            {spansOf(block.text).map((span, place) => {
              if (span.kind === "code") return <code key={place}>{visible(span.text)}</code>;
              return span.kind === "strong" ? <strong key={place}>{visible(span.text)}</strong> : visible(span.text);
            })}
          </p>
        ),
      )}
      {text.length > MOST && (
        <p class="note">{(text.length - MOST).toLocaleString()} more characters are left out here.</p>
      )}
    </div>
  );
}
