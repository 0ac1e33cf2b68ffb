import { useState } from "preact/hooks";

const SHOWN_MS = 1200;

export function CopyButton({ text, what = "command" }: { text: string; what?: string }) {
  const [label, setLabel] = useState("");
  const press = async () => {
    setLabel((await copied(text)) ? "copied" : "not copied");
    setTimeout(() => setLabel(""), SHOWN_MS);
  };
  return (
    <button type="button" class="copy" onClick={press} title={`Copy this ${what}`} aria-label={`Copy this ${what}`}>
      {label || "copy"}
    </button>
  );
}

async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedByHand(text);
  }
}

function copiedByHand(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  return isCopied;
}
