import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { plain } from "../lib/ansi";
import { isPipeline } from "../lib/pipeline";
import type { Run, Status } from "../lib/records";
import { useRoute, type View } from "../lib/route";
import { Library } from "../lib/search";
import type { Source } from "../lib/source";
import { togglePlaying } from "../terminal/playback";
import { Help } from "./Help";
import { useKeys } from "./keyboard";
import { useIndex } from "./live";
import { Message } from "./Message";
import { RunList } from "./RunList";
import { RunView } from "./RunView";
import { TopBar } from "./TopBar";
import { useTheme } from "./theme";

/** What narrows the lists; it stays while the user moves through the page. */
export interface Filter {
  readonly query: string;
  readonly statuses: ReadonlySet<Status>;
}

export function App({ source }: { source: Source }) {
  const library = useMemo(() => new Library(source), [source]);
  const { index, problem, connection, changes } = useIndex(source, library);
  const [route, go] = useRoute();
  const [theme, nextTheme] = useTheme();
  const [filter, setFilter] = useState<Filter>({ query: "", statuses: new Set() });
  const [isHelpOpen, setHelpOpen] = useState(false);
  const searchBox = useRef<HTMLInputElement>(null);

  const onlyRun = index?.runs.length === 1 ? index.runs[0] : undefined;
  const run = route.run === undefined ? onlyRun : index?.runs.find((each) => each.id === route.run);

  const test = run?.tests.find((each) => each.id === route.test);
  const title = [test?.name, run?.title, index?.title].filter(Boolean).join(" · ");
  useEffect(() => {
    if (title) document.title = plain(title);
  }, [title]);

  const leave = () => {
    if (isHelpOpen) setHelpOpen(false);
    else if (document.activeElement === searchBox.current) searchBox.current?.blur();
    else if (filter.query || filter.statuses.size) setFilter({ query: "", statuses: new Set() });
    else if (route.test !== undefined || route.view !== "tests" || route.part) go({ run: run?.id });
    else if (!onlyRun) go({});
  };
  const turnTo = (view: View) => go({ run: run?.id, view: route.view === view ? "tests" : view });
  useKeys({
    "/": () => searchBox.current?.select(),
    "?": () => setHelpOpen(!isHelpOpen),
    Escape: leave,
    " ": togglePlaying,
    d: nextTheme,
    t: () => run?.tutorial && turnTo("tutorial"),
    ...(isPipeline(run) && {
      b: () => turnTo("branch"),
      l: () => turnTo("timeline"),
      c: () => go({ run: run?.id, part: route.part === "causes" ? undefined : "causes" }),
    }),
  });

  if (!index) return <Message title={problem ? "This page cannot be read" : "Opening…"} text={problem} />;
  return (
    <>
      <TopBar
        {...{ index, run, view: route.view, connection, filter, setFilter, searchBox, theme, nextTheme }}
        openHelp={() => setHelpOpen(true)}
      />
      {run ? (
        <RunView key={run.id} {...{ run, route, go, source, library, filter, changes }} />
      ) : route.run === undefined ? (
        <RunList runs={runsNamed(index.runs, filter.query)} />
      ) : (
        <Message title="No such run" text={`This page has no run “${route.run}”.`} link={["All runs", "#/"]} />
      )}
      {isHelpOpen && <Help isPipeline={isPipeline(run)} close={() => setHelpOpen(false)} />}
    </>
  );
}

function runsNamed(runs: readonly Run[], query: string): readonly Run[] {
  const text = query.toLowerCase();
  return runs.filter((run) => `${run.title} ${run.id}`.toLowerCase().includes(text));
}
