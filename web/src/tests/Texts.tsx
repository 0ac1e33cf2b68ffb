import { visible } from "../lib/ansi";
import type { Text } from "../lib/records";
import { CopyButton } from "../shell/CopyButton";
import { Disclosure } from "../shell/Disclosure";
import { Name } from "../shell/Name";

/** Texts of an attempt as they came: its prompt, its result, the output of a check. */
export function Texts({ texts, isFirstOpen }: { texts: readonly Text[]; isFirstOpen: boolean }) {
  if (texts.length === 0) return null;
  return (
    <section class="texts" aria-label="Texts">
      {texts.map((text, at) => (
        <Disclosure key={text.title} class="text" isOpen={isFirstOpen && at === 0} summary={<Summary text={text} />}>
          {() => (
            <div class="inside">
              <CopyButton text={text.text} what="text" />
              <pre>{visible(text.text)}</pre>
            </div>
          )}
        </Disclosure>
      ))}
    </section>
  );
}

function Summary({ text }: { text: Text }) {
  return (
    <>
      <span class="title">
        <Name text={text.title} />
      </span>
      {text.note && (
        <small>
          <Name text={text.note} />
        </small>
      )}
    </>
  );
}
