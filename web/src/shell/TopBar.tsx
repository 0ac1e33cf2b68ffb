import type { RefObject } from "preact";
import type { Index, Run } from "../lib/records";
import { formatRoute, type View } from "../lib/route";
import { pattern } from "../lib/search";
import type { Filter } from "./App";
import type { Connection } from "./live";
import { Name } from "./Name";
import { StatusChips } from "./StatusChips";
import type { Theme } from "./theme";
import { Views } from "./Views";

interface Props {
  index: Index;
  run: Run | undefined;
  view: View;
  connection: Connection;
  filter: Filter;
  setFilter: (filter: Filter) => void;
  searchBox: RefObject<HTMLInputElement | null>;
  theme: Theme;
  nextTheme: () => void;
  openHelp: () => void;
}

export function TopBar(props: Props) {
  const { index, run, view, filter, setFilter } = props;
  const tests = run ? run.tests : index.runs.flatMap((each) => each.tests);
  return (
    <header class="top">
      <div class="where">
        <h1>
          <a href={index.runs.length === 1 ? formatRoute({ run: run?.id }) : "#/"}>
            <Name text={index.title} />
          </a>
        </h1>
        {run && index.runs.length > 1 && (
          <a class="crumb" href={formatRoute({ run: run.id })}>
            <Name text={run.title} />
          </a>
        )}
        <ConnectionSign connection={props.connection} />
      </div>
      {run && <Views run={run} view={view} />}
      <StatusChips tests={tests} filter={filter} setFilter={setFilter} isFilter={run !== undefined} />
      <SearchBox {...props} />
      <div class="tools">
        <button type="button" class="quiet" onClick={props.nextTheme} title="Colours: auto, light, dark (d)">
          {{ auto: "◐", light: "☀", dark: "☾" }[props.theme]}
          <span class="unseen">Colours: {props.theme}</span>
        </button>
        <button type="button" class="quiet" onClick={props.openHelp} title="Keys (?)" aria-label="Keys">
          ?
        </button>
      </div>
    </header>
  );
}

function SearchBox({ filter, setFilter, searchBox }: Props) {
  const regexp = pattern(filter.query);
  return (
    <div class="search" role="search">
      <input
        ref={searchBox}
        type="search"
        placeholder="Search names and output"
        aria-label="Search names and output"
        aria-invalid={regexp instanceof Error}
        title={regexp instanceof Error ? regexp.message : "Words, or a /regular expression/"}
        value={filter.query}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => setFilter({ ...filter, query: event.currentTarget.value })}
        onKeyDown={(event) => event.key === "Enter" && document.querySelector<HTMLElement>(".row a")?.click()}
      />
      <kbd>/</kbd>
    </div>
  );
}

function ConnectionSign({ connection }: { connection: Connection }) {
  if (connection === "file") return null;
  return (
    <span class={`connection ${connection}`} role="status">
      {connection === "live" ? "live" : "connection lost, trying again"}
    </span>
  );
}
