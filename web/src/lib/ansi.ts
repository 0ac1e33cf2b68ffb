/** Terminal output as styled pieces of plain text. Colours and styles are kept, every other escape sequence is dropped. */
export interface Piece {
  readonly text: string;
  readonly style: Style;
}

/** A colour is a number of the palette of 16, or a CSS colour. */
export interface Style {
  readonly colour?: number | string;
  readonly background?: number | string;
  readonly isBold?: boolean;
  readonly isFaint?: boolean;
  readonly isItalic?: boolean;
  readonly isUnderlined?: boolean;
  readonly isInverse?: boolean;
  readonly isStruck?: boolean;
}

const PLAIN: Style = {};

// A string sequence (title, link) is dropped only when it ends soon, so that a cut one cannot hide what follows.
const SEQUENCE =
  /\x1b\[([0-9;:<=>?]*)[ -/]*([@-~])|\x1b[\]PX^_][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Reads line after line; a colour lasts until it is taken back, also over line ends. */
export class AnsiReader {
  private style: Style = PLAIN;

  read(line: string): readonly Piece[] {
    const pieces: Piece[] = [];
    const add = (text: string) => text && pieces.push({ text, style: this.style });
    let at = 0;
    for (const match of line.matchAll(SEQUENCE)) {
      add(line.slice(at, match.index));
      at = match.index + match[0].length;
      if (match[2] === "m") this.style = styled(this.style, match[1] ?? "");
      else if (match[0].length === 1) add(picture(match[0]));
    }
    add(line.slice(at));
    return pieces;
  }

  skip(line: string): void {
    if (line.includes("\x1b[")) this.read(line);
  }
}

/** The text with neither colours nor any other sequence, for names and for searching. */
export function plain(text: string): string {
  return text.replace(SEQUENCE, (found) => (found === "\r" || found.length > 1 ? "" : picture(found)));
}

/** The text with every control character and every change of direction in sight, for what a reviewer must not miss. */
export function visible(text: string): string {
  return text.replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, picture);
}

function picture(control: string): string {
  const code = control.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}

function styled(style: Style, parameters: string): Style {
  if (!/^[0-9;:]*$/.test(parameters)) return style;
  const words = parameters.split(";");
  let next = style;
  for (let at = 0; at < words.length; at++) {
    const parts = (words[at] ?? "").split(":");
    const code = Number(parts[0] || 0);
    if (code === 38 || code === 48) {
      const rest = parts.length > 1 ? parts.slice(1) : words.slice(at + 1, at + 5);
      const [colour, used] = extended(rest, parts.length > 1);
      if (parts.length === 1) at += used;
      if (colour !== undefined) next = { ...next, [code === 38 ? "colour" : "background"]: colour };
    } else next = simple(next, code, parts[1]);
  }
  return next;
}

function simple(style: Style, code: number, part: string | undefined): Style {
  if (code === 0) return PLAIN;
  if (code >= 30 && code <= 37) return { ...style, colour: code - 30 };
  if (code >= 90 && code <= 97) return { ...style, colour: code - 82 };
  if (code >= 40 && code <= 47) return { ...style, background: code - 40 };
  if (code >= 100 && code <= 107) return { ...style, background: code - 92 };
  if (code === 4) return { ...style, isUnderlined: part !== "0" };
  return { ...style, ...SWITCHES[code] };
}

const SWITCHES: Record<number, Style> = {
  1: { isBold: true },
  2: { isFaint: true },
  3: { isItalic: true },
  7: { isInverse: true },
  9: { isStruck: true },
  21: { isUnderlined: true },
  22: { isBold: false, isFaint: false },
  23: { isItalic: false },
  24: { isUnderlined: false },
  27: { isInverse: false },
  29: { isStruck: false },
  39: { colour: undefined },
  49: { background: undefined },
};

/** The colour after 38 or 48, and how many words it took. */
function extended(words: readonly string[], hasColons: boolean): [number | string | undefined, number] {
  if (words[0] === "5") return [ofCube(Number(words[1] || 0)), 2];
  if (words[0] !== "2") return [undefined, 0];
  // With colons a colour space, often empty, may come before red.
  const rgb = (hasColons && words.length > 4 ? words.slice(2, 5) : words.slice(1, 4)).map((word) => Number(word || 0));
  return [rgb.length === 3 && rgb.every((part) => part <= 255) ? `rgb(${rgb.join(" ")})` : undefined, 4];
}

function ofCube(index: number): number | string | undefined {
  if (index < 16) return index;
  if (index > 255) return undefined;
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return `rgb(${grey} ${grey} ${grey})`;
  }
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40);
  const at = index - 16;
  return `rgb(${level(Math.floor(at / 36))} ${level(Math.floor(at / 6) % 6)} ${level(at % 6)})`;
}
