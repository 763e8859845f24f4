const width = 76;

/** Every setting of a result as `name=value`, wrapped for a terminal. */
export function settingsText(settings: Readonly<Record<string, unknown>>): string {
  const lines: string[] = [];
  let line = "";
  for (const [name, value] of Object.entries(settings)) {
    const text = `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`;
    if (line !== "" && line.length + text.length + 2 > width) {
      lines.push(line);
      line = text;
    } else {
      line = line === "" ? text : `${line}  ${text}`;
    }
  }
  return [...lines, line].join("\n");
}
