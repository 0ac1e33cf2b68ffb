import { useEffect, useRef } from "preact/hooks";

const PIPELINE_KEYS: readonly [string, string][] = [
  ["c", "causes"],
  ["b", "branch and back; j / k its commits"],
  ["l", "lanes of the timeline and back"],
];

const KEYS: readonly [string, string][] = [
  ["j / k", "next and previous test"],
  ["n / p", "next and previous failing test"],
  ["Enter or o", "open, and move into the detail"],
  ["1 – 9", "attempts"],
  ["Space", "play and pause the recording"],
  ["/", "search; Enter opens the first result"],
  ["t", "tutorial and back"],
  ...PIPELINE_KEYS,
  ["d", "colours: auto, light, dark"],
  ["Esc", "close, clear, go back"],
  ["?", "this help"],
];

export function Help({ isPipeline, close }: { isPipeline: boolean; close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog without help of ours
    <dialog class="help" ref={dialog} onClose={close} onClick={(event) => event.target === dialog.current && close()}>
      <h2>Keys</h2>
      <dl>
        {KEYS.filter((each) => isPipeline || !PIPELINE_KEYS.includes(each)).map(([keys, what]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </dialog>
  );
}
