import type { Piece, Style } from "../lib/ansi";

/** Pieces of terminal output; text only ever becomes text. */
export function AnsiText({ pieces }: { pieces: readonly Piece[] }) {
  return <>{pieces.map((piece, at) => (isPlain(piece.style) ? piece.text : <Styled key={at} {...piece} />))}</>;
}

function isPlain(style: Style): boolean {
  return Object.values(style).every((value) => value === undefined || value === false);
}

function Styled({ text, style }: Piece) {
  const names = [
    style.isBold && "bold",
    style.isFaint && "faint",
    style.isItalic && "italic",
    style.isUnderlined && "underlined",
    style.isStruck && "struck",
    style.isInverse && "inverse",
  ];
  return (
    <span class={names.filter(Boolean).join(" ") || undefined} style={colours(style)}>
      {text}
    </span>
  );
}

/** On paper the palette is the page's own; on a coloured ground letters are as a terminal shows them. */
function colours(style: Style): Record<string, string> {
  const [letters, ground] = style.isInverse
    ? [style.background ?? "var(--paper)", style.colour ?? "var(--ink)"]
    : [style.colour, style.background];
  if (ground === undefined) return letters === undefined ? {} : { color: css(letters, "ansi") };
  const color = letters === undefined || letters === "var(--paper)" ? readableOn(ground) : css(letters, "ground");
  return { color, background: css(ground, "ground") };
}

function css(colour: number | string, palette: "ansi" | "ground"): string {
  return typeof colour === "number" ? `var(--${palette}-${colour})` : colour;
}

const LIGHT_GROUNDS: ReadonlySet<number> = new Set([3, 7, 10, 11, 12, 13, 14, 15]);

function readableOn(ground: number | string): string {
  if (ground === "var(--ink)") return "var(--paper)";
  const [red = 0, green = 0, blue = 0] = typeof ground === "string" ? (ground.match(/\d+/g) ?? []).map(Number) : [];
  const isLight = typeof ground === "number" ? LIGHT_GROUNDS.has(ground) : red * 2 + green * 5 + blue > 1100;
  return isLight ? "#16181d" : "#f3f5f8";
}
