import { useLayoutEffect, useRef } from "preact/hooks";

export type Keys = Readonly<Record<string, () => void>>;

/** Single keys, wherever the focus is, except while the user types; Escape always counts. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (event.key !== "Escape" && isTyping(event.target)) return;
      if ((event.key === "Enter" || event.key === " ") && isControl(event.target)) return;
      const action = latest.current[event.key];
      if (!action) return;
      event.preventDefault();
      event.stopPropagation();
      action();
    };
    // In the capture phase, so that the player's own keys do not come first.
    addEventListener("keydown", press, true);
    return () => removeEventListener("keydown", press, true);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("a, button, summary") !== null;
}
