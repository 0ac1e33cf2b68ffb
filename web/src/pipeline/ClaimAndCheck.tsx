import { disagrees } from "../lib/pipeline";
import type { Work } from "../lib/records";
import { Name } from "../shell/Name";

/** In two words what the agent says of its test and what the check saw; loud where they differ. */
export function ClaimAndCheck({ work }: { work: Work }) {
  const isDispute = disagrees(work);
  return (
    <span class={isDispute ? "claims disagree" : "claims"}>
      {work.claimed && (
        <span class={`word ${tone(work.claimed)}`} title="what the agent says of its test">
          says <Name text={work.claimed} />
        </span>
      )}
      {isDispute && <b title="They disagree">≠</b>}
      {work.verdict && (
        <span class={`word ${tone(work.verdict)}`} title="what was seen when its commit was checked">
          {work.claimed ? "check " : ""}
          <Name text={work.verdict} />
        </span>
      )}
    </span>
  );
}

const TONES: ReadonlyMap<string, string> = new Map([
  ["passed", "good"],
  ["failed", "bad"],
  ["error", "bad"],
  ["wrong_code", "bad"],
  ["flaky", "unsure"],
  ["cannot_tell", "unsure"],
]);

export function tone(verdict: string): string {
  return TONES.get(verdict) ?? "";
}
