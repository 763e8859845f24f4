const figures: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  "-Infinity": Number.NEGATIVE_INFINITY,
};

/** Fields whose texts are names that somebody chose: a topic may be called NaN. */
const names = new Set([
  "topic",
  "topics",
  "name",
  "label",
  "scope",
  "table",
  "suite",
  "codec",
  "reader",
  "title",
  "notes",
  "rules",
  "settings",
]);

/** JSON has no NaN and no infinities, so results hold them as texts: here they are numbers again, which presenters calculate with. */
export function reviveFigures<T>(value: T): T {
  return revived(value) as T;
}

function revived(value: unknown): unknown {
  if (typeof value === "string") {
    return Object.hasOwn(figures, value) ? figures[value] : value;
  }
  if (Array.isArray(value)) {
    return value.map(revived);
  }
  if (typeof value !== "object" || value === null) {
    return value;
  }
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, names.has(key) ? each : revived(each)]));
}
