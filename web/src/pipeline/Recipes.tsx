import { plain } from "../lib/ansi";
import type { Recipe } from "../lib/records";
import { CopyButton } from "../shell/CopyButton";
import { Name } from "../shell/Name";

/** Commands to copy, each with what it is for. */
export function Recipes({ recipes }: { recipes: readonly Recipe[] }) {
  if (recipes.length === 0) return null;
  return (
    <ul class="recipes" aria-label="Commands to copy">
      {recipes.map((recipe) => (
        <li key={`${recipe.label} ${recipe.command}`}>
          <span class="label">
            <Name text={recipe.label} />
          </span>
          <code title={plain(recipe.command)}>{plain(recipe.command)}</code>
          <CopyButton text={recipe.command} />
        </li>
      ))}
    </ul>
  );
}
