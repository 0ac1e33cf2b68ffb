import { blocksOf, numberOf } from "../lib/cited";
import type { Detail, Run, Test } from "../lib/records";
import { formatRoute, type Route } from "../lib/route";
import { Name } from "../shell/Name";
import { ShellText } from "../terminal/ShellText";

interface Props {
  run: Run;
  test: Test;
  detail: Detail;
  place: Partial<Route>;
}

/** The tutorial blocks that a test stands for: each leads to its place there, its commands to theirs below. */
export function Citations({ run, test, detail, place }: Props) {
  const { citations, commands } = detail;
  const blocks = blocksOf(run, test);
  const linkOf = (line: string) => {
    const command = numberOf(commands, line);
    return command === undefined ? undefined : formatRoute({ ...place, command });
  };
  const known = new Set(blocks.map((block) => block.text.trim()));
  const others = citations.filter((citation) => !known.has(citation.trim()));
  if (blocks.length + others.length === 0) return null;
  return (
    <section class="citations">
      {blocks.map((block) => (
        <figure key={block.id}>
          <figcaption>
            <a href={formatRoute({ run: run.id, view: "tutorial", block: block.id })}>
              Tutorial, line {block.first_line}
            </a>
            {block.section && (
              <>
                {" · "}
                <Name text={block.section} />
              </>
            )}
          </figcaption>
          <ShellText text={block.text} linkOf={linkOf} />
        </figure>
      ))}
      {others.map((citation) => (
        <figure key={citation}>
          <figcaption>{run.tutorial ? "Cites a block that the tutorial no longer has" : "Tutorial block"}</figcaption>
          <ShellText text={citation} linkOf={linkOf} />
        </figure>
      ))}
    </section>
  );
}
