/** A piece of a line. */
export interface Span {
  readonly kind: "plain" | "code" | "strong";
  readonly text: string;
}

export interface Block {
  readonly kind: "text" | "heading" | "item" | "code";
  readonly text: string;
}

/** The little of markdown that summaries have: paragraphs, headings, items and code. The rest stays as typed. */
export function blocksOf(text: string): readonly Block[] {
  const blocks: { kind: Block["kind"]; text: string }[] = [];
  let isCode = false;
  let isNew = true;
  for (const line of text.split(/\r?\n/)) {
    const isFence = /^\s*(```|~~~)/.test(line);
    if (isFence) {
      isCode = !isCode;
      if (isCode) blocks.push({ kind: "code", text: "" });
      isNew = true;
      continue;
    }
    const last = blocks.at(-1);
    if (isCode && last) last.text += `${line}\n`;
    else if (line.trim() === "") isNew = true;
    else {
      const found = blockOf(line);
      if (last && !isNew && found.kind === "text" && last.kind !== "heading") last.text += `\n${line.trim()}`;
      else blocks.push(found);
      isNew = false;
    }
  }
  return blocks;
}

function blockOf(line: string): Block {
  const heading = /^\s{0,3}#{1,6}\s+(.*?)\s*#*$/.exec(line);
  if (heading) return { kind: "heading", text: heading[1] ?? "" };
  const item = /^\s*(?:[-*+]|\d{1,3}[.)])\s+(.*)$/.exec(line);
  return item ? { kind: "item", text: item[1] ?? "" } : { kind: "text", text: line.trim() };
}

export function spansOf(text: string): readonly Span[] {
  const spans: Span[] = [];
  let at = 0;
  for (const match of text.matchAll(/`([^`\n]+)`|\*\*([^*\n]+)\*\*/g)) {
    if (match.index > at) spans.push({ kind: "plain", text: text.slice(at, match.index) });
    spans.push(match[1] ? { kind: "code", text: match[1] } : { kind: "strong", text: match[2] ?? "" });
    at = match.index + match[0].length;
  }
  if (at < text.length) spans.push({ kind: "plain", text: text.slice(at) });
  return spans;
}
