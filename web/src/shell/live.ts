import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { problemOf } from "../lib/problem";
import type { Index } from "../lib/records";
import type { Library } from "../lib/search";
import type { Source } from "../lib/source";

export type Connection = "file" | "live" | "lost";

export interface Loaded {
  readonly index: Index | null;
  readonly problem: string;
  readonly connection: Connection;
  /** Counts the changes seen, so that an open detail knows when to look again. */
  readonly changes: number;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8000;

/** The index, read once from a file and again at each change from a server. */
export function useIndex(source: Source, library: Library): Loaded {
  const [loaded, setLoaded] = useState<Loaded>({
    index: null,
    problem: "",
    connection: source.isLive ? "live" : "file",
    changes: 0,
  });
  const latest = useRef<Index | null>(null);
  const asked = useRef(0);
  const answered = useRef(0);
  const read = useCallback(async () => {
    const turn = ++asked.current;
    try {
      const index = await source.index();
      if (turn < answered.current) return;
      answered.current = turn;
      const unfinished = latest.current ? unfinishedChunks(latest.current) : [];
      source.forget(unfinished);
      library.forget(unfinished);
      latest.current = index;
      setLoaded((last) => ({ ...last, index, problem: "", changes: last.changes + 1 }));
    } catch (error) {
      setLoaded((last) => ({ ...last, problem: last.index ? "" : problemOf(error) }));
    }
  }, [source, library]);
  useEffect(() => void read(), [read]);
  useEffect(() => {
    if (!source.isLive) return;
    return follow(read, (connection) => setLoaded((last) => ({ ...last, connection })));
  }, [source, read]);
  return loaded;
}

function unfinishedChunks(index: Index): readonly string[] {
  const attempts = index.runs.flatMap((run) => run.tests.flatMap((test) => test.attempts));
  return attempts.filter((attempt) => attempt.status === "running").map((attempt) => attempt.chunk);
}

/** Listens for changes, and after a lost connection tries again, ever less often. Returns how to stop. */
function follow(changed: () => void, say: (connection: Connection) => void): () => void {
  let events: EventSource;
  let wait = FIRST_WAIT_MS;
  let timer = 0;
  const open = () => {
    events = new EventSource("events");
    events.addEventListener("changed", changed);
    events.addEventListener("open", () => {
      if (wait > FIRST_WAIT_MS) changed();
      wait = FIRST_WAIT_MS;
      say("live");
    });
    events.addEventListener("error", () => {
      events.close();
      say("lost");
      timer = setTimeout(open, wait);
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    });
  };
  open();
  return () => {
    clearTimeout(timer);
    events.close();
  };
}
