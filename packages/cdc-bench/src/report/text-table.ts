/** A column of a text table. */
export interface TableColumn {
  readonly title: string;
  /**
   * On which side of its column a cell stands.
   * @default "right"
   */
  readonly align?: "left" | "right";
}

const gap = "  ";
// oxlint-disable-next-line no-control-regex -- what styleText writes
const colors = /\u001b\[[\d;]*m/g;

/** Rows under their titles, every column as wide as its widest cell. Ends with a newline. */
export function textTable(columns: readonly TableColumn[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map((column, i) => Math.max(...[column.title, ...rows.map((row) => row[i] ?? "")].map(displayWidth)));
  const line = (cells: readonly string[]): string =>
    columns
      .map((column, i) => padded(cells[i] ?? "", widths[i] ?? 0, column.align ?? "right"))
      .join(gap)
      .trimEnd();
  const rule = widths.map((width) => "-".repeat(width)).join(gap);
  return `${[line(columns.map((column) => column.title)), rule, ...rows.map(line)].join("\n")}\n`;
}

function padded(cell: string, width: number, align: "left" | "right"): string {
  const filler = " ".repeat(width - displayWidth(cell));
  return align === "left" ? cell + filler : filler + cell;
}

/** Code points, which is what our cells take on a terminal. Colors take nothing. */
export function displayWidth(text: string): number {
  return [...text.replaceAll(colors, "")].length;
}
