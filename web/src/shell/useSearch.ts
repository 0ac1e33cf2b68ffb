import { useEffect, useMemo, useState } from "preact/hooks";
import type { Run } from "../lib/records";
import { type Library, type Progress, pattern } from "../lib/search";

const PAUSE_MS = 120;

/** Searches while someone types, a moment after the last key; what was found so far is shown at once. */
export function useSearch(library: Library, run: Run, query: string, changes: number) {
  const wanted = useMemo(() => {
    const found = pattern(query);
    return found instanceof RegExp ? found : null;
  }, [query]);
  const [progress, setProgress] = useState<Progress | null>(null);
  useEffect(() => {
    if (!wanted) return setProgress(null);
    const stop = new AbortController();
    const timer = setTimeout(() => void library.search(run, wanted, setProgress, stop.signal), PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [library, run.id, wanted, changes]);
  return { wanted, progress: wanted ? progress : null };
}
