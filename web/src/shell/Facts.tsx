import type { LabeledFact } from "../lib/records";
import { Name } from "./Name";

/** Facts in a word or two, side by side. */
export function Facts({ facts }: { facts: readonly LabeledFact[] }) {
  if (facts.length === 0) return null;
  return (
    <dl class="known">
      {facts.map((fact, at) => (
        <div key={at} class={fact.tone || undefined}>
          <dt>
            <Name text={fact.label} />
          </dt>
          <dd>
            <Value text={fact.value} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ text }: { text: string }) {
  if (!/^https:\/\/[^\s]+$/.test(text)) return <Name text={text} />;
  return (
    <a href={text} target="_blank" rel="noreferrer noopener">
      <Name text={text} />
    </a>
  );
}
