import { plain } from "../lib/ansi";

/** Text from outside on one line: control characters visible, its direction kept to itself. */
export function Name({ text, title }: { text: string; title?: string }) {
  return <bdi title={title}>{plain(text)}</bdi>;
}
