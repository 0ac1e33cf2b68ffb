import type { Status } from "../lib/records";

type Shown = Status | "not run";

/** A status as a shape and a colour, so that either is enough. */
export function StatusMark({ status }: { status: Shown }) {
  return (
    <svg class={`mark ${status.replace(" ", "-")}`} viewBox="0 0 16 16" role="img" aria-label={status}>
      <title>{status}</title>
      {SHAPES[status]}
    </svg>
  );
}

const DISC = <circle class="fill" cx="8" cy="8" r="7" />;
const RING = <circle class="ring" cx="8" cy="8" r="6" />;

const SHAPES = {
  failed: [DISC, <path class="cut" d="M5.4 5.4 10.6 10.6 M10.6 5.4 5.4 10.6" />],
  error: [<path class="fill" d="M8 1.2 15.4 14.4H.6Z" />, <path class="cut" d="M8 6v4 M8 12.2v.1" />],
  timeout: [RING, <path class="ring" d="M8 4.6V8l2.4 1.6" />],
  running: [<circle class="ring faint" cx="8" cy="8" r="6" />, <path class="ring turning" d="M8 2a6 6 0 0 1 6 6" />],
  skipped: [RING, <path class="ring" d="M5.2 8h5.6" />],
  passed: [DISC, <path class="cut" d="M4.9 8.3 7.1 10.5 11.2 5.9" />],
  "not run": [<circle class="ring dotted" cx="8" cy="8" r="6" />],
};
