import type { Run, Status, Test } from "./records";

/** Failing first: the order of chips, lists and bars. */
export const STATUSES: readonly Status[] = ["failed", "error", "timeout", "running", "skipped", "passed", "not run"];

export const FAILING: ReadonlySet<Status> = new Set<Status>(["failed", "error", "timeout"]);

export function isFailing(status: Status): boolean {
  return FAILING.has(status);
}

export function countByStatus(tests: readonly Test[]): ReadonlyMap<Status, number> {
  const counts = new Map<Status, number>(STATUSES.map((status) => [status, 0]));
  for (const test of tests) counts.set(test.status, (counts.get(test.status) ?? 0) + 1);
  return counts;
}

export function failingFirst(tests: readonly Test[]): readonly Test[] {
  return STATUSES.flatMap((status) => tests.filter((test) => test.status === status));
}

/** Of a test that a tutorial block names, also when this run left it out. */
export function lastStatus(run: Run, test: string): Status | "not run" {
  const row = run.tests.find((each) => each.id === test);
  const statuses = run.tutorial?.statuses ?? {};
  return row?.status ?? (Object.hasOwn(statuses, test) ? statuses[test] : undefined) ?? "not run";
}
