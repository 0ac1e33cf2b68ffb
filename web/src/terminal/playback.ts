import type { Player } from "asciinema-player";

interface Shown {
  readonly player: Player;
  isPlaying: boolean;
}

let shown: Shown | null = null;

/** The recording on the screen, for the space bar. */
export function show(player: Player): void {
  const mine: Shown = { player, isPlaying: false };
  shown = mine;
  player.addEventListener("playing", () => (mine.isPlaying = true));
  player.addEventListener("pause", () => (mine.isPlaying = false));
  player.addEventListener("ended", () => (mine.isPlaying = false));
}

export function hide(player: Player): void {
  if (shown?.player === player) shown = null;
}

export function togglePlaying(): void {
  if (!shown) return;
  void (shown.isPlaying ? shown.player.pause() : shown.player.play());
}
