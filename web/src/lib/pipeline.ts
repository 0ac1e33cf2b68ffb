import type { BranchCommit, Cause, Run, Section, Test, Work } from "./records";

export function isPipeline(run: Run | undefined): boolean {
  return run?.kind === "pipeline";
}

const byId = new WeakMap<Run, ReadonlyMap<string, Test>>();

/** A row by its id; asked for thousands of times, so the map is made once for each run. */
export function rowOf(run: Run, id: string): Test | undefined {
  let rows = byId.get(run);
  if (!rows) {
    rows = new Map(run.tests.map((test) => [test.id, test]));
    byId.set(run, rows);
  }
  return rows.get(id);
}

/** Rows under one heading; those of a test run have none. */
export interface Group {
  readonly section?: Section;
  readonly tests: readonly Test[];
}

const NOWHERE: Section = {
  id: "",
  title: "Others",
  about: "Rows that are in no section.",
  tests: [],
  is_finding: true,
};

/** Every row once: sections in their order, findings before the rest. */
export function groupsOf(run: Run): readonly Required<Group>[] {
  const seen = new Set<string>();
  const take = (id: string) => {
    const row = seen.has(id) ? undefined : rowOf(run, id);
    if (row) seen.add(id);
    return row ? [row] : [];
  };
  const groups = run.sections.map((section) => ({ section, tests: section.tests.flatMap(take) }));
  const rest = { section: NOWHERE, tests: run.tests.filter((test) => !seen.has(test.id)) };
  return [...groups, rest]
    .filter((group) => group.tests.length > 0)
    .toSorted((one, other) => Number(other.section.is_finding) - Number(one.section.is_finding));
}

/** The place of a row's best fix on the branch; 0 when it has none. */
export function rankOf(test: Test): number {
  const ranks = (test.work?.merged ?? []).map((merged) => merged.rank).filter((rank) => rank > 0);
  return ranks.length ? Math.min(...ranks) : 0;
}

export function disagrees(work: Work): boolean {
  return differ(work.claimed, work.verdict);
}

export function differ(claimed: string, seen: string): boolean {
  return claimed !== "" && seen !== "" && claimed !== seen;
}

export function isFixed(cause: Cause): boolean {
  return cause.fixed.length >= cause.tests.length;
}

export function failuresIn(causes: readonly Cause[]): number {
  return new Set(causes.flatMap((cause) => cause.tests)).size;
}

/** How many of the failing tests pass on the branch. */
export function fixedIn(causes: readonly Cause[]): number {
  return new Set(causes.flatMap((cause) => cause.fixed)).size;
}

/** A commit of the branch by its id or the beginning of it. */
export function commitOf(run: Run, id: string | undefined): BranchCommit | undefined {
  if (!id) return undefined;
  return run.commits.find((commit) => commit.id === id || (id.length >= 7 && commit.id.startsWith(id)));
}

/** How a commit of the branch is called in a word or two. */
export function commitName(rank: number): string {
  return rank > 0 ? `fix ${rank}` : "tests and docs";
}

export function short(id: string): string {
  return id.slice(0, 10);
}

export function counted(count: number, noun: string): string {
  return `${count.toLocaleString()} ${noun}${count === 1 ? "" : "s"}`;
}
