import type { Attempt, Detail, Lane, LaneSpan, Run, ShownCommand, Test, TutorialBlock } from "../src/lib/records";

/** Records as the page gets them, with only what a test is about filled in. */
export function run(fields: Partial<Run> = {}): Run {
  return {
    id: "run",
    title: "run",
    start: 1000,
    tests: [],
    duration_s: 10,
    is_running: false,
    tutorial: null,
    warnings: [],
    kind: "tests",
    facts: [],
    causes: [],
    sections: [],
    matters: [],
    lanes: [],
    commits: [],
    recipes: [],
    headline: "",
    measured: [],
    balance: null,
    marks: [],
    ...fields,
  };
}

export function test(id: string, fields: Partial<Test> = {}): Test {
  return {
    id,
    name: id,
    file: "",
    status: "passed",
    duration_s: 0,
    attempts: [],
    blocks: [],
    reason: "",
    section: "",
    work: null,
    ...fields,
  };
}

export function attempt(number: number, chunk: string): Attempt {
  return { number, status: "passed", start: 0, duration_s: 0, chunk, label: "", kind: "test" };
}

export function command(text: string, output = ""): ShownCommand {
  return {
    command: text,
    comment: "",
    cwd: "",
    start: 0,
    duration_s: 0,
    exit_code: 0,
    is_timed_out: false,
    output: output ? [{ stream: "stdout", at: 0, text: output }] : [],
    seeks: [],
    terminal: "",
  };
}

export function detail(fields: Partial<Detail> = {}): Detail {
  return {
    commands: [],
    citations: [],
    failure: "",
    casts: [],
    screens: [],
    files: [],
    notes: [],
    conversation: [],
    texts: [],
    ...fields,
  };
}

export function block(id: string, fields: Partial<TutorialBlock> = {}): TutorialBlock {
  return { id, kind: "command", section: "", first_line: 1, text: "", tests: [], ...fields };
}

export function span(kind: string, start: number, end: number): LaneSpan {
  return { kind, start, end } as LaneSpan;
}

export function lane(spans: readonly LaneSpan[], label = ""): Lane {
  return { label, spans } as Lane;
}
