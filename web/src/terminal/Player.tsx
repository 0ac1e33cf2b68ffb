import { create, type Player as Playing } from "asciinema-player";
import { useEffect, useRef, useState } from "preact/hooks";
import { parseCast, printed, type Recording } from "../lib/cast";
import { splitLines } from "../lib/lines";
import { problemOf } from "../lib/problem";
import { hide, show } from "./playback";
import type { Wish } from "./Recordings";
import { TerminalLines } from "./TerminalLines";

const START_DEADLINE_MS = 10_000;

interface Props {
  text: string;
  duration_s: number;
  wish: Wish | null;
  marks: readonly [number, string][];
}

/** Plays a recording; where that is not possible it says so and offers what was printed. */
export function Player({ text, duration_s, wish, marks }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const player = useRef<Playing | null>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    if (!place.current) return;
    setProblem("");
    try {
      const started = start(text, duration_s, marks, place.current, setProblem);
      player.current = started.player;
      return started.stop;
    } catch (error) {
      setProblem(problemOf(error));
    }
  }, [text]);
  useEffect(() => {
    if (wish && player.current) void goTo(player.current, wish.second).catch((error) => setProblem(problemOf(error)));
  }, [wish, text]);
  return (
    <>
      <div class="player" ref={place} hidden={problem !== ""} />
      {problem && <Unplayable text={text} problem={problem} />}
    </>
  );
}

function start(
  text: string,
  duration_s: number,
  marks: readonly [number, string][],
  place: HTMLElement,
  fail: (problem: string) => void,
) {
  // Without this the player of a browser that refuses WebAssembly stays black and says nothing.
  new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
  const recording = parseCast(text);
  // The poster is text: after one made of a second, the player seeks without printing what came before it.
  const player = create({ data: () => dataOf(recording) as unknown[] }, place, {
    fit: "width",
    theme: "mngr",
    poster: `data:text/plain,${printed(recording, duration_s / 2)}`,
    controls: true,
    preload: true,
    cursorMode: "steady",
    markers: [...marks],
    terminalFontFamily: 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace',
  });
  show(player);
  const timer = setTimeout(() => fail("the player did not start"), START_DEADLINE_MS);
  on(player, "ready", () => clearTimeout(timer));
  on(player, "error", () => fail("the player cannot read this recording"));
  const stop = () => {
    clearTimeout(timer);
    hide(player);
    player.dispose();
  };
  return { player, stop };
}

/** Where motion is unwanted, the second appears when all is done: a key pressed then meets a player at rest. */
async function goTo(player: Playing, second: number): Promise<void> {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
    await player.play();
    await player.pause();
    await player.seek(second);
  } else {
    await player.seek(second);
    await player.play();
  }
}

function dataOf({ cols, rows, events }: Recording): readonly unknown[] {
  return [{ version: 2, width: cols, height: rows }, ...events];
}

// The player tells of these too, though its types do not say so.
function on(player: Playing, event: "ready" | "error", handler: () => void): void {
  (player.addEventListener as (event: string, handler: () => void) => void)(event, handler);
}

function Unplayable({ text, problem }: { text: string; problem: string }) {
  return (
    <div class="unplayable">
      <p class="warning">This recording cannot be played here: {problem}.</p>
      <details>
        <summary>What was printed</summary>
        <div class="terminal">
          <TerminalLines lines={linesIn(text)} />
        </div>
      </details>
    </div>
  );
}

function linesIn(text: string) {
  return splitLines(readable(text)).map((line) => ({ kind: "cells", text: line }));
}

function readable(text: string): string {
  try {
    return printed(parseCast(text));
  } catch {
    return text;
  }
}
