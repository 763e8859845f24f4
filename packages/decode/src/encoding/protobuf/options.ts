import { type Features, invalidProto, maxNesting } from "./file.ts";
import { textOfBytes, type Tokens } from "./tokens.ts";

/** The value of an option. A text has one character for each byte. */
export type OptionValue =
  | { readonly kind: "word" | "text"; readonly text: string }
  | { readonly kind: "list"; readonly items: readonly OptionValue[] }
  | { readonly kind: "object"; readonly entries: readonly (readonly [string, OptionValue])[] };

/** An option as it is written: `deprecated`, `(confluent.field_meta).params`, `features.field_presence`. */
export interface Option {
  readonly name: string;
  readonly value: OptionValue;
}

/** Parses `name = value`. The keyword before it is taken already. */
export function parseOption(tokens: Tokens): Option {
  let name = "";
  while (!tokens.accept("=")) {
    const { kind, text } = tokens.next();
    if (kind !== "word" && text !== "(" && text !== ")" && text !== ".") {
      throw tokens.unexpected('"=" after the name of an option');
    }
    name += text;
  }
  return { name: name.replace("(.", "("), value: parseValue(tokens, 0) };
}

/** Parses `[a = 1, b = 2]` after a field, if it is there. */
export function parseFieldOptions(tokens: Tokens): readonly Option[] {
  if (!tokens.accept("[")) {
    return noOptions;
  }
  const options: Option[] = [];
  do {
    options.push(parseOption(tokens));
  } while (tokens.accept(","));
  tokens.expect("]");
  return options;
}

// Shared by all fields without options: a schema may have a hundred thousand fields.
const noOptions: readonly Option[] = [];
const noFeatures: Features = {};
const noParams: ReadonlyMap<string, string> = new Map();

function parseValue(tokens: Tokens, nesting: number): OptionValue {
  if (nesting > maxNesting) {
    throw invalidProto(`an option is nested deeper than ${maxNesting}`);
  }
  if (tokens.accept("{")) {
    return parseObject(tokens, "}", nesting);
  }
  if (tokens.accept("<")) {
    return parseObject(tokens, ">", nesting);
  }
  if (tokens.accept("[")) {
    return parseList(tokens, nesting);
  }
  const sign = tokens.accept("-") ? "-" : tokens.accept("+") ? "" : "";
  const { kind, text } = tokens.peek();
  if (kind === "sign" || kind === "end") {
    throw tokens.unexpected("the value of an option");
  }
  tokens.next();
  return { kind: kind === "text" ? "text" : "word", text: sign + text };
}

function parseList(tokens: Tokens, nesting: number): OptionValue {
  const items: OptionValue[] = [];
  while (!tokens.accept("]")) {
    items.push(parseValue(tokens, nesting + 1));
    tokens.accept(",");
  }
  return { kind: "list", items };
}

function parseObject(tokens: Tokens, close: string, nesting: number): OptionValue {
  const entries: [string, OptionValue][] = [];
  while (!tokens.accept(close)) {
    const name = parseEntryName(tokens);
    tokens.accept(":");
    entries.push([name, parseValue(tokens, nesting + 1)]);
    if (!tokens.accept(",")) {
      tokens.accept(";");
    }
  }
  return { kind: "object", entries };
}

function parseEntryName(tokens: Tokens): string {
  if (!tokens.accept("[")) {
    return tokens.take("word");
  }
  let name = "";
  while (!tokens.accept("]")) {
    if (tokens.peek().kind === "end") {
      throw tokens.unexpected('"]"');
    }
    name += tokens.next().text;
  }
  return name;
}

/** The value of an option, if it is a single one. */
export function textOf(options: readonly Option[], name: string): string | null {
  const value = options.find((option) => option.name === name)?.value;
  return value?.kind === "word" || value?.kind === "text" ? value.text : null;
}

/** The features that change how bytes are read, in either of their spellings. */
export function featuresOf(options: readonly Option[]): Features {
  if (!options.some(({ name }) => name.startsWith("features"))) {
    return noFeatures;
  }
  const within = options.flatMap(({ name, value }): readonly (readonly [string, OptionValue])[] => {
    if (name === "features" && value.kind === "object") {
      return value.entries;
    }
    return name.startsWith("features.") ? [[name.slice("features.".length), value]] : [];
  });
  const found = (name: string): string | undefined => {
    const value = within.find(([key]) => key === name)?.[1];
    return value?.kind === "word" ? value.text : undefined;
  };
  const presence = found("field_presence");
  const encoding = found("message_encoding");
  return { ...(presence === undefined ? {} : { presence }), ...(encoding === undefined ? {} : { encoding }) };
}

const metaName = "(confluent.field_meta)";

/** The `params` of `(confluent.field_meta)`, in any of their spellings. */
export function paramsOf(options: readonly Option[]): ReadonlyMap<string, string> {
  if (!options.some(({ name }) => name.startsWith(metaName))) {
    return noParams;
  }
  const params = new Map<string, string>();
  for (const { name, value } of options) {
    if (name === metaName) {
      addParams(params, entriesOf(value, "params"));
    } else if (name === `${metaName}.params`) {
      addParams(params, [value]);
    }
  }
  return params;
}

function addParams(params: Map<string, string>, values: readonly OptionValue[]): void {
  for (const value of values) {
    const pairs = value.kind === "list" ? value.items : [value];
    for (const pair of pairs) {
      const [key] = entriesOf(pair, "key");
      const [content] = entriesOf(pair, "value");
      if (key?.kind === "text" && content?.kind === "text") {
        params.set(textOfBytes(key.text), textOfBytes(content.text));
      }
    }
  }
}

function entriesOf(value: OptionValue, name: string): readonly OptionValue[] {
  return value.kind === "object" ? value.entries.filter(([key]) => key === name).map(([, content]) => content) : [];
}
