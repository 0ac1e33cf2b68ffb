import { differ } from "../lib/pipeline";
import type { Work } from "../lib/records";
import { Name } from "../shell/Name";
import { tone } from "./ClaimAndCheck";

/** What the agent says of its test beside what was seen when it was run again. */
export function Verdicts({ work }: { work: Work }) {
  const isDispute = differ(work.claimed, work.verdict) || differ(work.before_claimed, work.before);
  return (
    <table class={isDispute ? "verdicts disagree" : "verdicts"} aria-label="Claim and check">
      <thead>
        <tr>
          <td />
          <th scope="col">the agent says</th>
          <th scope="col">the check says</th>
        </tr>
      </thead>
      <tbody>
        {(work.before_claimed || work.before) && (
          <Line when="before" claimed={work.before_claimed} seen={work.before} />
        )}
        <Line when="after" claimed={work.claimed} seen={work.verdict} />
        {work.on_branch && <Line when="on the branch" claimed="" seen={work.on_branch} />}
      </tbody>
    </table>
  );
}

function Line({ when, claimed, seen }: { when: "before" | "after" | "on the branch"; claimed: string; seen: string }) {
  const isDispute = differ(claimed, seen);
  return (
    <tr class={isDispute ? "disagree" : undefined}>
      <th scope="row">{when === "before" ? "before its work" : when}</th>
      <td class={`claimed ${tone(claimed)}`}>{claimed ? <Name text={claimed} /> : "–"}</td>
      <td class={`seen ${tone(seen)}`}>
        {seen ? <Name text={seen.replaceAll("_", " ")} /> : "–"}
        {isDispute && <b title="They disagree"> ≠</b>}
      </td>
    </tr>
  );
}
