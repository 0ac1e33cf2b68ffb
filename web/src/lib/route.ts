import { useEffect, useState } from "preact/hooks";

export type View = "tests" | "branch" | "timeline" | "tutorial";

/** A part of a pipeline's overview. */
export type Part = "causes" | "section" | "matter";

/** What the address names; ids are those of the records, numbers count from 1. */
export interface Route {
  readonly run?: string;
  readonly view: View;
  readonly test?: string;
  readonly attempt?: number;
  readonly command?: number;
  readonly block?: string;
  readonly commit?: string;
  readonly part?: Part;
  readonly item?: string;
}

const VIEWS: readonly View[] = ["branch", "timeline", "tutorial"];
const PARTS: readonly Part[] = ["causes", "section", "matter"];

export function parseRoute(hash: string): Route {
  const words = hash
    .replace(/^#?\/?/, "")
    .split("/")
    .map(decoded);
  const after = (word: string) => {
    const at = words.findIndex((each, index) => index % 2 === 0 && each === word);
    return at < 0 ? undefined : words[at + 1] || undefined;
  };
  const view = VIEWS.find((each) => each === words[2]) ?? "tests";
  const part = PARTS.find((each) => each === words[2]);
  const item = words[3] || undefined;
  return {
    run: after("run"),
    view,
    test: after("test"),
    attempt: number(after("attempt")),
    command: number(after("command")),
    block: view === "tutorial" ? item : undefined,
    commit: view === "branch" ? item : undefined,
    part,
    item: part ? item : undefined,
  };
}

export function formatRoute(route: Partial<Route>): string {
  if (route.run === undefined) return "#/";
  const words = ["run", route.run];
  const add = (...more: (string | undefined)[]) => words.push(...more.filter((word) => word !== undefined));
  if (route.view === "tutorial") add("tutorial", route.block);
  else if (route.view === "branch") add("branch", route.commit);
  else if (route.view === "timeline") add("timeline");
  else if (route.test !== undefined) {
    add("test", route.test);
    if (route.attempt) add("attempt", String(route.attempt));
    if (route.command) add("command", String(route.command));
  } else if (route.part) add(route.part, route.item);
  return `#/${words.map(encodeURIComponent).join("/")}`;
}

/** Follows the address; `replace` keeps steps that are not worth going back through out of the history. */
export function useRoute(): readonly [Route, (route: Partial<Route>, how?: "push" | "replace") => void] {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = () => setHash(location.hash);
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  const go = (route: Partial<Route>, how: "push" | "replace" = "push") => {
    const target = formatRoute(route);
    if (how === "replace") history.replaceState(null, "", target);
    else location.hash = target;
    setHash(target);
  };
  return [parseRoute(hash), go];
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

function number(word: string | undefined): number | undefined {
  return word !== undefined && /^\d{1,6}$/.test(word) ? Number(word) : undefined;
}
