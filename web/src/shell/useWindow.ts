import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

const SPARE = 20;

/** Which of many rows of one height are on the screen, and a few more: from `first` to before `last`. */
export function useWindow(count: number, height: number): readonly [RefObject<HTMLDivElement | null>, number, number] {
  const scroller = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState({ top: 0, height: 1200 });
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const look = () => setSeen({ top: element.scrollTop, height: element.clientHeight });
    const watch = new ResizeObserver(look);
    watch.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      watch.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [count > 0]);
  const first = Math.max(Math.floor(seen.top / height) - SPARE, 0);
  return [scroller, first, Math.min(Math.ceil((seen.top + seen.height) / height) + SPARE, count)];
}
