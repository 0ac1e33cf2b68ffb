import { useEffect, useMemo, useState } from "preact/hooks";
import { visible } from "../lib/ansi";
import { type FileDiff, parseDiff } from "../lib/diff";
import { problemOf } from "../lib/problem";
import type { Patch } from "../lib/records";
import type { Source } from "../lib/source";
import { Name } from "../shell/Name";

const LINES_AT_FIRST = 300;
const LONGEST = 1000;

/** The diff of a commit, read when it is drawn. */
export function Diff({ source, chunk }: { source: Source; chunk: string }) {
  const [patch, setPatch] = useState<Patch | null>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    source.patch(chunk).then(setPatch, (error) => setProblem(problemOf(error)));
  }, [source, chunk]);
  const files = useMemo(() => parseDiff(patch?.text ?? ""), [patch]);
  if (problem) {
    return (
      <p class="warning">
        The diff cannot be shown: <Name text={problem} />
      </p>
    );
  }
  if (!patch) return <p class="waiting">Reading…</p>;
  return (
    <div class="diff">
      {patch.note && (
        <p class="note">
          <Name text={patch.note} />
        </p>
      )}
      {files.map((file, at) => (
        <OneFile key={at} file={file} />
      ))}
      {files.length === 0 && !patch.note && <p class="nothing">It changes no file.</p>}
    </div>
  );
}

function OneFile({ file }: { file: FileDiff }) {
  const [most, setMost] = useState(LINES_AT_FIRST);
  const hidden = file.lines.length - most;
  return (
    <figure>
      <figcaption>
        <code>{visible(file.path)}</code>
        <span class="added">+{file.added}</span>
        <span class="removed">−{file.removed}</span>
      </figcaption>
      <div class="hunks">
        {file.lines.slice(0, most).map((line, at) => (
          <div key={at} class={`change ${line.kind}`} data-number={line.number}>
            {visible(line.text.slice(0, LONGEST))}
            {line.text.length > LONGEST && <em> … {(line.text.length - LONGEST).toLocaleString()} more characters</em>}
          </div>
        ))}
      </div>
      {hidden > 0 && (
        <button type="button" class="fold" onClick={() => setMost(file.lines.length)}>
          show {hidden.toLocaleString()} more lines
        </button>
      )}
    </figure>
  );
}
