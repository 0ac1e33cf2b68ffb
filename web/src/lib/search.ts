import { plain } from "./ansi";
import type { Attempt, Detail, Run, Test } from "./records";
import type { Source } from "./source";

/** The line of a transcript that matches, and where it is. */
export interface Found {
  readonly attempt: number;
  readonly command?: number;
  readonly line: string;
  readonly start: number;
  readonly end: number;
}

export interface Progress {
  readonly found: ReadonlyMap<string, Found>;
  readonly read: number;
  readonly total: number;
}

/** Plain words in any case; between slashes a regular expression. */
export function pattern(query: string): RegExp | Error | null {
  if (query === "") return null;
  const expression = /^\/(.+)\/$/.exec(query)?.[1];
  try {
    return new RegExp(expression ?? query.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "i");
  } catch (error) {
    return error as Error;
  }
}

export function matchesName(test: Test, regexp: RegExp): boolean {
  const words = [test.name, test.file, test.reason, test.work?.summary ?? "", test.work?.branch ?? ""];
  return words.some((word) => regexp.test(word));
}

const KEPT_CHARACTERS = 150_000_000;
const AT_ONCE = 24;
const REPORT_EVERY_MS = 150;
const LONGEST_LINE = 200;

interface Text {
  readonly text: string;
  /** Where each command's text begins. */
  readonly starts: readonly number[];
}

/** The text of every attempt, read once and kept while there is room; searched from front to back. */
export class Library {
  private readonly texts = new Map<string, Text>();
  private size = 0;
  private forgotten = 0;

  constructor(private readonly source: Source) {}

  forget(chunks: readonly string[]): void {
    this.forgotten++;
    for (const chunk of chunks) {
      this.size -= this.texts.get(chunk)?.text.length ?? 0;
      this.texts.delete(chunk);
    }
  }

  async search(run: Run, regexp: RegExp, report: (progress: Progress) => void, signal: AbortSignal): Promise<void> {
    const found = new Map<string, Found>();
    const jobs = run.tests.flatMap((test) => test.attempts.toReversed().map((attempt) => ({ test, attempt })));
    let next = performance.now() + REPORT_EVERY_MS;
    for (let read = 0; read < jobs.length && !signal.aborted; ) {
      const batch = jobs.slice(read, read + AT_ONCE);
      const texts = await Promise.all(batch.map(({ attempt }) => this.text(attempt)));
      batch.forEach(({ test, attempt }, at) => {
        const hit = found.has(test.id) ? undefined : find(texts[at], attempt, regexp);
        if (hit) found.set(test.id, hit);
      });
      read += batch.length;
      if (signal.aborted) return;
      if (read < jobs.length && performance.now() < next) continue;
      report({ found: new Map(found), read, total: jobs.length });
      next = performance.now() + REPORT_EVERY_MS;
      await idle();
    }
  }

  private async text(attempt: Attempt): Promise<Text | undefined> {
    const kept = this.texts.get(attempt.chunk);
    if (kept) return kept;
    const { forgotten } = this;
    const text = await this.source.detail(attempt.chunk).then(textOf, () => undefined);
    const isCurrent = forgotten === this.forgotten;
    if (isCurrent && text && this.size + text.text.length <= KEPT_CHARACTERS) {
      this.texts.set(attempt.chunk, text);
      this.size += text.text.length;
    }
    return text;
  }
}

function textOf(detail: Detail): Text {
  const starts: number[] = [];
  let text = "";
  for (const command of detail.commands) {
    starts.push(text.length);
    const output = plain(command.output.map((each) => each.text).join(""));
    text += `${plain(command.comment)}\n${plain(command.command)}\n${output}\n`;
  }
  starts.push(text.length);
  const rest = [...detail.screens, ...detail.conversation, ...detail.texts].map((each) => each.text);
  text += plain([detail.failure, ...rest, ...detail.notes].join("\n"));
  return { text, starts };
}

function find(within: Text | undefined, attempt: Attempt, regexp: RegExp): Found | undefined {
  const match = within && regexp.exec(within.text);
  if (!match || match[0] === "") return undefined;
  const { text, starts } = within;
  const lineStart = text.lastIndexOf("\n", match.index) + 1;
  const from = Math.max(lineStart, match.index - LONGEST_LINE / 4);
  const lineEnd = text.indexOf("\n", match.index + match[0].length - 1);
  const line = text.slice(from, Math.min(lineEnd < 0 ? text.length : lineEnd, from + LONGEST_LINE));
  const command = starts.findLastIndex((start) => start <= match.index) + 1;
  return {
    attempt: attempt.number,
    command: command < starts.length ? command : undefined,
    line,
    start: match.index - from,
    end: Math.min(match.index - from + match[0].length, line.length),
  };
}

function idle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
