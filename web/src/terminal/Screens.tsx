import { splitLines } from "../lib/lines";
import type { ScreenText } from "../lib/records";
import { Name } from "../shell/Name";
import { TerminalLines } from "./TerminalLines";

/** Snapshots of terminals, in their own colours. */
export function Screens({ screens }: { screens: readonly ScreenText[] }) {
  if (screens.length === 0) return null;
  return (
    <section class="screens">
      <h3>Screens</h3>
      <div class="gallery">
        {screens.map((screen, at) => (
          <figure key={at}>
            <figcaption>
              <Name text={screen.title} />
            </figcaption>
            <div class="terminal">
              <TerminalLines lines={splitLines(screen.text).map((text) => ({ kind: "cells", text }))} />
            </div>
          </figure>
        ))}
      </div>
    </section>
  );
}
