const masked = "***";
/** Headers of dead letters that have an exception's message. */
const quotingHeader = /exception-?[.]?message|stack-?trace/;

/** What is not to be shown: the values of these columns, or all values. */
export interface MaskRule {
  readonly columns: readonly string[];
  readonly isEverything: boolean;
}

/** Takes values out of what is shown. */
export interface Mask {
  /** A row, a key, or what else has been decoded, with what may be shown of it. Nulls stay: that a column is empty is not its value. */
  value(value: unknown): unknown;
  /** The text of a header, which may hold columns as JSON. */
  header(name: string, text: string): string;
  /** A key or a value that may have no columns: in text, JSON is masked, and bytes that nothing has decoded may hold any column. */
  bare(value: unknown): unknown;
  /** Text or bytes that may quote any value, such as the message of an exception or a statement. */
  quote<T>(quoting: T): T | string;
}

/** Shows everything. */
export const noMask: Mask = { value: (value) => value, bare: (value) => value, header: (_name, text) => text, quote: (quoting) => quoting };

export function createMask({ columns, isEverything }: MaskRule): Mask {
  if (isEverything) {
    return { value: withoutValues, bare: withoutValues, header: () => masked, quote: () => masked };
  }
  const names = new Set(columns);
  if (names.size === 0) {
    return noMask;
  }
  return {
    value: (value) => withoutColumns(value, names),
    bare: (value) => bareWithoutColumns(value, names),
    header: (name, text) => (names.has(name) || quotingHeader.test(name) ? masked : textWithoutColumns(text, names)),
    quote: () => masked,
  };
}

function withoutValues(value: unknown): unknown {
  const isBare = value === null || value === undefined || typeof value === "symbol";
  return isBare ? value : mapMembers(value, withoutValues, () => masked);
}

function withoutColumns(value: unknown, names: ReadonlySet<string>): unknown {
  return mapMembers(
    value,
    (member, name) => {
      const isMasked = name !== null && names.has(name) && member !== null && member !== undefined;
      return isMasked ? masked : withoutColumns(member, names);
    },
    (leaf) => leaf,
  );
}

function bareWithoutColumns(value: unknown, names: ReadonlySet<string>): unknown {
  if (typeof value === "string") {
    return textWithoutColumns(value, names);
  }
  return value instanceof Uint8Array ? masked : withoutColumns(value, names);
}

/** Of valid JSON: its texts, its punctuation, and what else stands between them. */
const jsonToken = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g;

/** Debezium writes keys into headers as JSON. All but the masked values stays as it was written: its numbers may be longer than a double holds. */
function textWithoutColumns(text: string, names: ReadonlySet<string>): string {
  if (!isJsonOfMembers(text)) {
    return text;
  }
  const tokens = [...text.matchAll(jsonToken)].map((match) => ({
    token: match[0],
    start: match.index,
    end: match.index + match[0].length,
  }));
  let shown = "";
  let copiedTo = 0;
  for (let i = 0; i < tokens.length; i++) {
    const isNamed = tokens[i + 1]?.token === ":" && names.has(JSON.parse(tokens[i]!.token) as string);
    const value = tokens[i + 2];
    if (isNamed && value !== undefined && value.token !== "null") {
      i = endOfValue(tokens, i + 2);
      shown += `${text.slice(copiedTo, value.start)}"${masked}"`;
      copiedTo = tokens[i]!.end;
    }
  }
  return shown + text.slice(copiedTo);
}

function isJsonOfMembers(text: string): boolean {
  if (!/^\s*[{[]/.test(text)) {
    return false;
  }
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The last token of the value that begins with this one. */
function endOfValue(tokens: readonly { readonly token: string }[], first: number): number {
  let depth = 0;
  for (let at = first; at < tokens.length; at++) {
    const { token } = tokens[at]!;
    depth += token === "{" || token === "[" ? 1 : token === "}" || token === "]" ? -1 : 0;
    if (depth === 0) {
      return at;
    }
  }
  return tokens.length - 1;
}

/** The members of an object, a list or a Map, changed. What has none, such as a number, bytes or a time, is a leaf. */
function mapMembers(value: unknown, change: (member: unknown, name: string | null) => unknown, leaf: (value: unknown) => unknown): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => change(item, null));
  }
  if (value instanceof Map) {
    return new Map([...value].map(([name, member]) => [name, change(member, typeof name === "string" ? name : null)]));
  }
  if (typeof value !== "object" || value === null || value instanceof Uint8Array || hasOwnForm(value)) {
    return leaf(value);
  }
  // A null prototype, because a column may be called `__proto__`.
  const members: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, member] of Object.entries(value)) {
    members[name] = change(member, name);
  }
  return members;
}

/** Dates and the Temporal types say themselves how they are written. */
function hasOwnForm(value: object): boolean {
  return typeof (value as { toJSON?: unknown }).toJSON === "function" && !Object.hasOwn(value, "toJSON");
}
