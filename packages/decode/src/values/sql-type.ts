/** The parts of a column's type in DDL. */
export interface SqlType {
  /** In lower case, without parameters, `unsigned` and `zerofill`: `int`, `timestamp with time zone`. */
  readonly name: string;
  readonly isUnsigned: boolean;
  /** The first parameter of `char(10)`, `decimal(10,2)`, `bit(3)`; null if there is none. */
  readonly length: number | null;
  readonly scale: number | null;
  /** The members of an `enum` or a `set`, if the type lists them. */
  readonly elements: readonly string[] | null;
}

/** Parses a type such as `decimal(10,2) unsigned`, in MySQL's or PostgreSQL's form. */
export function parseSqlType(text: string): SqlType {
  const open = text.indexOf("(");
  const close = text.lastIndexOf(")");
  const hasParameters = open >= 0 && close > open;
  const words = (hasParameters ? `${text.slice(0, open)} ${text.slice(close + 1)}` : text).toLowerCase().split(/\s+/);
  const parameters = hasParameters ? text.slice(open + 1, close) : "";
  const [, length, scale] = /^\s*(\d{1,6})\s*(?:,\s*(-?\d{1,6})\s*)?$/.exec(parameters) ?? [];
  return {
    name: words.filter((word) => word !== "" && !attributes.has(word)).join(" "),
    isUnsigned: words.includes("unsigned"),
    length: length === undefined ? null : Number(length),
    scale: scale === undefined ? null : Number(scale),
    elements: parameters.trimStart().startsWith("'") ? quotedTexts(parameters) : null,
  };
}

const attributes: ReadonlySet<string> = new Set(["unsigned", "signed", "zerofill"]);

/** The texts of a list `'a','it''s'`. A quote inside of a text is doubled or escaped. */
function quotedTexts(list: string): readonly string[] {
  return Array.from(list.matchAll(/'((?:[^'\\]|''|\\.)*)'/g), ([, text = ""]) => text.replaceAll("''", "'").replaceAll(/\\(.)/g, "$1"));
}
