import { visible } from "../lib/ansi";
import type { WeakenedCheck } from "../lib/records";
import { Name } from "../shell/Name";

/** Checks that a commit removed or made easier to pass. */
export function Weakenings({ weakenings }: { weakenings: readonly WeakenedCheck[] }) {
  if (weakenings.length === 0) return null;
  return (
    <ul class="weakenings" aria-label="Weaker checks">
      {weakenings.map((weakening, at) => (
        <li key={at}>
          <b>
            <Name text={weakening.kind.replaceAll("_", " ")} />
          </b>{" "}
          in <Name text={weakening.test || weakening.file} title={weakening.file} />
          {weakening.before && <code class="before">{visible(weakening.before)}</code>}
          {weakening.after && <code class="after">{visible(weakening.after)}</code>}
        </li>
      ))}
    </ul>
  );
}
