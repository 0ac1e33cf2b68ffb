import { useLayoutEffect, useState } from "preact/hooks";

export type Theme = "auto" | "light" | "dark";

const ORDER: readonly Theme[] = ["auto", "light", "dark"];
const KEY = "mngr-theme";

/** The chosen colours; kept for the next visit where the browser lets us. */
export function useTheme(): readonly [Theme, () => void] {
  const [theme, setTheme] = useState<Theme>(stored);
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = theme;
    store(theme);
  }, [theme]);
  return [theme, () => setTheme(ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length] ?? "auto")];
}

function stored(): Theme {
  try {
    const found = localStorage.getItem(KEY);
    return ORDER.find((theme) => theme === found) ?? "auto";
  } catch {
    return "auto";
  }
}

function store(theme: Theme): void {
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // A browser that keeps nothing for a file still shows the chosen colours now.
  }
}
