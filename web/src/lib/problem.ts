/** What went wrong, in words for a sentence. */
export function problemOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
