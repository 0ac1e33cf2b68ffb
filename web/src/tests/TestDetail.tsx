import { useState } from "preact/hooks";
import { blocksOf } from "../lib/cited";
import type { Attempt, Detail, Run, Seek, Test } from "../lib/records";
import { formatRoute } from "../lib/route";
import type { Source } from "../lib/source";
import { duration, moment } from "../lib/time";
import { SectionBadge } from "../pipeline/SectionBadge";
import { WorkPanel } from "../pipeline/WorkPanel";
import { Name } from "../shell/Name";
import { StatusMark } from "../shell/StatusMark";
import { useDetail } from "../shell/useDetail";
import { Recordings, type Wish } from "../terminal/Recordings";
import { Screens } from "../terminal/Screens";
import { AttemptTabs } from "./AttemptTabs";
import { Citations } from "./Citations";
import { Conversation } from "./Conversation";
import { Failure } from "./Failure";
import { Texts } from "./Texts";
import { Transcript } from "./Transcript";

interface Props {
  run: Run;
  test: Test;
  attempt: Attempt | undefined;
  command: number | undefined;
  source: Source;
  changes: number;
}

/** Everything known about one attempt of a test. */
export function TestDetail({ run, test, attempt, command, source, changes }: Props) {
  const { detail, problem } = useDetail(source, attempt, changes);
  const isWithout = test.work !== null && !attempt;
  return (
    <article class="test">
      <Heading run={run} test={test} attempt={attempt} />
      {test.work && <WorkPanel run={run} work={test.work} />}
      <AttemptTabs run={run.id} test={test} chosen={attempt?.number} />
      {problem && !isWithout && (
        <p class="warning">
          This attempt cannot be shown: <Name text={problem} />
        </p>
      )}
      {detail && <Evidence {...{ run, test, attempt, detail, command, source }} />}
      {!detail && !problem && <p class="waiting">Reading…</p>}
    </article>
  );
}

function Heading({ run, test, attempt }: { run: Run; test: Test; attempt: Attempt | undefined }) {
  const shown = test.work ? test : (attempt ?? test);
  const { status } = shown;
  const facts = [attempt && moment(attempt.start), duration(shown.duration_s)];
  return (
    <header class="heading">
      <a class="back" href={formatRoute({ run: run.id })}>
        ‹ Tests
      </a>
      <h2>
        <StatusMark status={status} /> <Name text={test.name} />
      </h2>
      <p class="facts">
        {test.section && <SectionBadge run={run} test={test} />}
        <b class={`outcome ${status}`}>{status}</b> · <Name text={test.file} /> · {facts.filter(Boolean).join(" · ")}
      </p>
      {test.reason && (test.work || attempt === test.attempts.at(-1)) && (
        <p class={`reason ${test.status}`}>
          <Name text={test.reason} />
        </p>
      )}
    </header>
  );
}

interface EvidenceProps {
  run: Run;
  test: Test;
  attempt: Attempt | undefined;
  detail: Detail;
  command: number | undefined;
  source: Source;
}

function Evidence({ run, test, attempt, detail, command, source }: EvidenceProps) {
  const [wish, setWish] = useState<Wish | null>(null);
  const place = { run: run.id, test: test.id, attempt: attempt?.number };
  const isRunning = attempt?.status === "running";
  const play = (seek: Seek, title: string) => setWish({ ...seek, title });
  return (
    <>
      <div class={detail.casts.length ? "evidence with-recordings" : "evidence"}>
        <div class="story">
          {detail.notes
            .filter((note) => !test.work?.notes.includes(note))
            .map((note) => (
              <p class="note" key={note}>
                <Name text={note} />
              </p>
            ))}
          <Citations {...{ run, test, detail, place }} />
          <Failure text={detail.failure} />
        </div>
        {detail.casts.length > 0 && <Recordings detail={detail} wish={wish} source={source} />}
        {attempt?.kind === "agent" ? (
          <Conversation turns={detail.conversation} casts={detail.casts} {...{ isRunning, play }} />
        ) : (
          <Transcript
            commands={detail.commands}
            blocks={blocksOf(run, test)}
            chosen={command}
            {...{ place, isRunning, play }}
          />
        )}
      </div>
      <Texts texts={detail.texts} isFirstOpen={test.section === "malformed"} />
      <Screens screens={detail.screens} />
      {detail.files.length > 0 && (
        <section class="files">
          <h3>Files</h3>
          <ul>
            {detail.files.map((file) => (
              <li key={file}>
                <Name text={file} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
