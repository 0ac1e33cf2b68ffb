import { Name } from "./Name";

/** One kind sentence where there is nothing else to show. */
export function Message(props: { title: string; text?: string; link?: readonly [string, string] }) {
  return (
    <div class="message" role="status">
      <h2>{props.title}</h2>
      {props.text && (
        <p>
          <Name text={props.text} />
        </p>
      )}
      {props.link && <a href={props.link[1]}>{props.link[0]}</a>}
    </div>
  );
}
