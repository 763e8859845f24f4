const width = 76;
/** Settings that somebody else decides if they are null. */
const undecided: Readonly<Record<string, string>> = { fetchBytes: "the driver's own", inFlight: "the consumer's own" };

/** Every setting of a result as `name=value`, wrapped for a terminal. */
export function settingsText(settings: Readonly<Record<string, unknown>>): string {
  const lines: string[] = [];
  let line = "";
  for (const [name, value] of Object.entries(settings)) {
    const text = `${name}=${valueText(name, value)}`;
    if (line !== "" && line.length + text.length + 2 > width) {
      lines.push(line);
      line = text;
    } else {
      line = line === "" ? text : `${line}  ${text}`;
    }
  }
  return [...lines, line].join("\n");
}

function valueText(name: string, value: unknown): string {
  const decided = value === null && Object.hasOwn(undecided, name) ? undecided[name] : value;
  return typeof decided === "string" ? decided : JSON.stringify(decided);
}
