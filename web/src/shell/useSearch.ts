import { useEffect, useMemo, useState } from "preact/hooks";
import type { Run } from "../lib/records";
import { type Library, type Progress, pattern } from "../lib/search";

const PAUSE_MS = 120;

/** Searches while the user types, a moment after the last key; what was found so far is shown at once. */
export function useSearch(library: Library, run: Run, query: string, changes: number) {
  const regexp = useMemo(() => {
    const found = pattern(query);
    return found instanceof RegExp ? found : null;
  }, [query]);
  const [progress, setProgress] = useState<Progress | null>(null);
  useEffect(() => {
    if (!regexp) return setProgress(null);
    const stop = new AbortController();
    const timer = setTimeout(() => void library.search(run, regexp, setProgress, stop.signal), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [library, run.id, regexp, changes]);
  return { regexp, progress: regexp ? progress : null };
}
