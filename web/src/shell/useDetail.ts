import { useEffect, useRef, useState } from "preact/hooks";
import { problemOf } from "../lib/problem";
import type { Attempt, Detail } from "../lib/records";
import type { Source } from "../lib/source";

export interface Opened {
  readonly detail: Detail | null;
  readonly problem: string;
}

/** An attempt's detail; while it runs it is read again at each change, and the old one stays until the new is there. */
export function useDetail(source: Source, attempt: Attempt | undefined, changes: number): Opened {
  const [opened, setOpened] = useState<Opened>({ detail: null, problem: "" });
  const readAt = useRef<{ chunk: string; isFinal: boolean } | null>(null);
  useEffect(() => {
    if (!attempt) return setOpened({ detail: null, problem: "nothing is known of this attempt" });
    const { chunk, status } = attempt;
    if (readAt.current?.chunk === chunk && readAt.current.isFinal) return;
    let isCurrent = true;
    source.detail(chunk).then(
      (detail) => {
        if (!isCurrent) return;
        readAt.current = { chunk, isFinal: status !== "running" };
        setOpened({ detail, problem: "" });
      },
      (error) => isCurrent && setOpened((last) => ({ ...last, problem: problemOf(error) })),
    );
    return () => {
      isCurrent = false;
    };
  }, [source, attempt?.chunk, attempt?.status, changes]);
  return opened;
}
