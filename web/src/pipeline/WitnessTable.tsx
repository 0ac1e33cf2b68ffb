import type { WitnessResults } from "../lib/records";

/** Old and new test against old and new code: a fix is one that turns red to green. */
export function WitnessTable({ witness }: { witness: WitnessResults }) {
  return (
    <table class="witness" aria-label="Witness">
      <thead>
        <tr>
          <td />
          <th scope="col">old code</th>
          <th scope="col">new code</th>
        </tr>
      </thead>
      <tbody>
        <tr>
          <th scope="row">old test</th>
          <Corner passed={witness.old_test_old_code} />
          <Corner passed={witness.old_test_new_code} />
        </tr>
        <tr>
          <th scope="row">new test</th>
          <Corner passed={witness.new_test_old_code} />
          <Corner passed={witness.new_test_new_code} />
        </tr>
      </tbody>
    </table>
  );
}

function Corner({ passed }: { passed: boolean | null }) {
  if (passed === null) {
    return (
      <td class="untried" title="not tried">
        –
      </td>
    );
  }
  return <td class={passed ? "good" : "bad"}>{passed ? "passes" : "fails"}</td>;
}
