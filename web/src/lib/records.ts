// Generated from src/mngr_view/records.py by `python -m mngr_view.typescript`; do not edit.

export type Status = "failed" | "error" | "timeout" | "running" | "skipped" | "passed" | "not run";

export type Stream = "stdout" | "stderr";

export type RunKind = "tests" | "pipeline";

export type AttemptKind = "test" | "agent" | "try" | "check";

export type Tone = "" | "good" | "bad";

export type Unit = "usd" | "tokens" | "seconds";

export interface Index {
  readonly title: string;
  readonly generated_at: number;
  readonly runs: readonly Run[];
  readonly is_live: boolean;
  readonly schema: number;
}

export interface Run {
  readonly id: string;
  readonly title: string;
  readonly start: number;
  readonly tests: readonly Test[];
  readonly duration_s: number;
  readonly is_running: boolean;
  readonly tutorial: Tutorial | null;
  readonly warnings: readonly string[];
  readonly kind: RunKind;
  readonly facts: readonly LabeledFact[];
  readonly causes: readonly Cause[];
  readonly sections: readonly Section[];
  readonly matters: readonly Matter[];
  readonly lanes: readonly Lane[];
  readonly commits: readonly BranchCommit[];
  readonly recipes: readonly Recipe[];
  readonly headline: string;
  readonly measured: readonly TestMeasurement[];
  readonly balance: Balance | null;
  readonly marks: readonly TimelineMark[];
}

export interface Test {
  readonly id: string;
  readonly name: string;
  readonly file: string;
  readonly status: Status;
  readonly duration_s: number;
  readonly attempts: readonly Attempt[];
  readonly blocks: readonly string[];
  readonly reason: string;
  readonly section: string;
  readonly work: Work | null;
}

export interface Attempt {
  readonly number: number;
  readonly status: Status;
  readonly start: number;
  readonly duration_s: number;
  readonly chunk: string;
  readonly label: string;
  readonly kind: AttemptKind;
}

export interface Tutorial {
  readonly file: string;
  readonly blocks: readonly TutorialBlock[];
  readonly statuses: Readonly<Record<string, Status>>;
}

export interface TutorialBlock {
  readonly id: string;
  readonly kind: string;
  readonly section: string;
  readonly first_line: number;
  readonly text: string;
  readonly tests: readonly string[];
}

export interface Detail {
  readonly commands: readonly ShownCommand[];
  readonly citations: readonly string[];
  readonly failure: string;
  readonly casts: readonly Cast[];
  readonly screens: readonly ScreenText[];
  readonly files: readonly string[];
  readonly notes: readonly string[];
  readonly conversation: readonly ConversationTurn[];
  readonly texts: readonly Text[];
}

export interface ShownCommand {
  readonly command: string;
  readonly comment: string;
  readonly cwd: string;
  readonly start: number;
  readonly duration_s: number;
  readonly exit_code: number | null;
  readonly is_timed_out: boolean;
  readonly output: readonly Output[];
  readonly seeks: readonly Seek[];
  readonly terminal: string;
}

export interface Output {
  readonly stream: Stream;
  readonly at: number;
  readonly text: string;
}

export interface Seek {
  readonly cast: number;
  readonly second: number;
}

export interface Cast {
  readonly title: string;
  readonly start: number;
  readonly duration_s: number;
  readonly cols: number;
  readonly rows: number;
  readonly chunk: string;
  readonly problem: string;
}

export interface ScreenText {
  readonly title: string;
  readonly text: string;
}

export interface ConversationTurn {
  readonly role: string;
  readonly text: string;
  readonly at: number;
}

export interface Text {
  readonly title: string;
  readonly text: string;
  readonly note: string;
}

export interface LabeledFact {
  readonly label: string;
  readonly value: string;
  readonly tone: Tone;
}

export interface Recipe {
  readonly label: string;
  readonly command: string;
}

export interface Cause {
  readonly id: string;
  readonly title: string;
  readonly stage: string;
  readonly tests: readonly string[];
  readonly fixed: readonly string[];
  readonly exception: string;
  readonly frame: string;
  readonly example: string;
  readonly fix: string;
  readonly others: readonly string[];
  readonly likely: string;
}

export interface Section {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  readonly tests: readonly string[];
  readonly is_finding: boolean;
}

export interface Matter {
  readonly kind: string;
  readonly title: string;
  readonly tests: readonly string[];
  readonly details: readonly string[];
  readonly locations: readonly string[];
}

export interface Lane {
  readonly test: string;
  readonly spans: readonly LaneSpan[];
  readonly label: string;
}

export interface LaneSpan {
  readonly kind: string;
  readonly start: number;
  readonly end: number;
}

export interface TimelineMark {
  readonly at: number;
  readonly text: string;
}

export interface Balance {
  readonly meters: readonly Meter[];
  readonly worth: readonly Figure[];
  readonly attention: readonly Figure[];
  readonly left_out: readonly LeftOut[];
}

export interface Meter {
  readonly unit: Unit;
  readonly used: number;
  readonly reserved: number;
  readonly limit: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly note: string;
}

export interface Figure {
  readonly value: string;
  readonly label: string;
  readonly tone: Tone;
  readonly place: "" | "section" | "branch" | "causes" | "matter";
  readonly section: string;
}

export interface LeftOut {
  readonly reason: string;
  readonly tests: readonly string[];
}

export interface BranchCommit {
  readonly id: string;
  readonly title: string;
  readonly chunk: string;
  readonly rank: number;
  readonly reason: string;
  readonly tests: readonly string[];
  readonly paths: readonly string[];
  readonly flags: readonly string[];
  readonly witness: WitnessResults | null;
  readonly weakenings: readonly WeakenedCheck[];
  readonly needed_by: readonly string[];
  readonly recipes: readonly Recipe[];
}

export interface TestMeasurement {
  readonly test: string;
  readonly base: MeasuredOutcome;
  readonly agent: MeasuredOutcome;
  readonly tip: MeasuredOutcome;
}

export interface MeasuredOutcome {
  readonly outcome: string;
  readonly reason: string;
}

export interface WitnessResults {
  readonly old_test_old_code: boolean | null;
  readonly old_test_new_code: boolean | null;
  readonly new_test_old_code: boolean | null;
  readonly new_test_new_code: boolean | null;
}

export interface WeakenedCheck {
  readonly kind: string;
  readonly file: string;
  readonly test: string;
  readonly before: string;
  readonly after: string;
}

export interface Patch {
  readonly text: string;
  readonly note: string;
}

export interface Work {
  readonly outcome: string;
  readonly claimed: string;
  readonly verdict: string;
  readonly before_claimed: string;
  readonly before: string;
  readonly summary: string;
  readonly changes: readonly WorkChange[];
  readonly commits: readonly WorkCommit[];
  readonly merged: readonly MergedAs[];
  readonly branch: string;
  readonly commit: string;
  readonly added_by: string;
  readonly needs: string;
  readonly matters: readonly number[];
  readonly facts: readonly LabeledFact[];
  readonly recipes: readonly Recipe[];
  readonly notes: readonly string[];
  readonly on_branch: string;
}

export interface WorkChange {
  readonly kind: string;
  readonly commits: readonly string[];
  readonly summary: string;
  readonly importance: number;
  readonly reason: string;
}

export interface WorkCommit {
  readonly id: string;
  readonly subject: string;
  readonly kind: string;
  readonly claimed: string;
  readonly paths: readonly string[];
  readonly into: string;
}

export interface MergedAs {
  readonly commit: string;
  readonly how: string;
  readonly rank: number;
  readonly title: string;
}
