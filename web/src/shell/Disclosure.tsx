import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

interface Props {
  summary: ComponentChildren;
  children: () => ComponentChildren;
  /** Opens it and brings it into view; it may be closed again. */
  isWanted?: boolean;
  isOpen?: boolean;
  class?: string;
}

/** Something that opens; what is inside is drawn only then, and stays open when the page changes. */
export function Disclosure(props: Props) {
  const [isOpen, setOpen] = useState(Boolean(props.isWanted || props.isOpen));
  const element = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (!props.isWanted) return;
    setOpen(true);
    element.current?.scrollIntoView({ block: "nearest" });
  }, [props.isWanted]);
  return (
    <details
      ref={element}
      class={props.class}
      open={isOpen}
      aria-current={props.isWanted ? "true" : undefined}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>{props.summary}</summary>
      {isOpen && props.children()}
    </details>
  );
}
