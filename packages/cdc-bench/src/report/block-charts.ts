const sparkLevels = "▁▂▃▄▅▆▇█";

/** A bar of block characters, to an eighth of a character. A share beyond 0 to 1 is cut. */
export function barOf(share: number, cells: number): string {
  const eighths = Number.isFinite(share) ? Math.round(Math.min(1, Math.max(0, share)) * cells * 8) : 0;
  return "█".repeat(eighths >> 3) + (eighths % 8 === 0 ? "" : "▏▎▍▌▋▊▉".charAt((eighths % 8) - 1));
}

/** So many values in a line of block characters, from zero to the largest of them; an empty text if there are none. */
export function sparkline(values: readonly number[]): string {
  const max = values.reduce((most, value) => Math.max(most, value), 0);
  const level = (value: number): number => (max > 0 ? Math.round((Math.max(0, value) / max) * (sparkLevels.length - 1)) : 0);
  return values.map((value) => (Number.isFinite(value) ? sparkLevels.charAt(level(value)) : " ")).join("");
}
