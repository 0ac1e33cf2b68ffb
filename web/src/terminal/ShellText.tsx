import { plain } from "../lib/ansi";
import { splitLines } from "../lib/lines";

interface Props {
  text: string;
  /** Where a command leads, if anywhere. */
  linkOf?: (line: string) => string | undefined;
}

/** Shell lines, comments apart from commands. */
export function ShellText({ text, linkOf }: Props) {
  return (
    <pre class="shell">
      {splitLines(text).map((line, at) => {
        const isComment = line.trimStart().startsWith("#");
        const link = isComment || !line.trim() ? undefined : linkOf?.(line);
        return (
          <span key={at} class={isComment ? "comment" : "command"}>
            {link ? (
              <a href={link} title="Show it in the transcript">
                {plain(line)}
              </a>
            ) : (
              plain(line)
            )}
            {"\n"}
          </span>
        );
      })}
    </pre>
  );
}
