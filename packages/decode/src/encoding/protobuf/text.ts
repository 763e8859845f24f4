import {
  invalidProto,
  maxNesting,
  type PartCount,
  type ProtoEnum,
  type ProtoExtension,
  type ProtoField,
  type ProtoFile,
  type ProtoMessage,
  shownName,
} from "./file.ts";
import { featuresOf, type Option, paramsOf, parseFieldOptions, parseOption, textOf } from "./options.ts";
import { textOfBytes, Tokens } from "./tokens.ts";

/** Parses a `.proto` text. Services and reserved names do not change how messages are read, and are skipped. */
export function parseProtoText(text: string, count: PartCount): ProtoFile {
  return new Parser(text, count).file();
}

class Parser {
  readonly #tokens: Tokens;
  readonly #count: PartCount;
  #syntax: ProtoFile["syntax"] = "proto2";

  constructor(text: string, count: PartCount) {
    this.#tokens = new Tokens(text);
    this.#count = count;
  }

  file(): ProtoFile {
    const tokens = this.#tokens;
    const body = emptyBody();
    let packageName = "";
    while (tokens.peek().kind !== "end") {
      if (tokens.accept("syntax")) {
        this.#syntax = this.#readSyntax();
      } else if (tokens.accept("edition")) {
        tokens.expect("=");
        tokens.take("text");
        tokens.expect(";");
        this.#syntax = "editions";
      } else if (tokens.accept("package")) {
        packageName = tokens.takePath();
        tokens.expect(";");
      } else if (tokens.accept("import")) {
        this.#skipStatement(); // an import: names are looked up in all files that the registry gave
      } else if (!this.#declaration(body, 0)) {
        throw tokens.unexpected("a message, an enum or another declaration");
      }
    }
    const { messages, enums, extensions } = body;
    return { package: packageName, syntax: this.#syntax, features: featuresOf(body.options), messages, enums, extensions };
  }

  #readSyntax(): ProtoFile["syntax"] {
    this.#tokens.expect("=");
    const name = textOfBytes(this.#tokens.take("text"));
    this.#tokens.expect(";");
    if (name !== "proto2" && name !== "proto3") {
      throw invalidProto(`expected the syntax "proto2" or "proto3", found ${shownName(name)}`);
    }
    return name;
  }

  /** Parses a declaration that both files and messages may hold. False if something other than a declaration follows. */
  #declaration(body: Body, nesting: number): boolean {
    const tokens = this.#tokens;
    if (tokens.accept(";")) {
      return true;
    }
    if (tokens.accept("option")) {
      body.options.push(parseOption(tokens));
      tokens.expect(";");
      return true;
    }
    if (tokens.accept("message")) {
      const name = tokens.take("word");
      body.messages.push(this.#message(name, nesting + 1));
      return true;
    }
    if (tokens.accept("enum")) {
      body.enums.push(this.#enum());
      return true;
    }
    if (tokens.accept("extend")) {
      this.#extend(body, nesting);
      return true;
    }
    if (nesting === 0 && tokens.accept("service")) {
      tokens.take("word");
      this.#skipBlock();
      return true;
    }
    return this.#syntax === "editions" && (tokens.accept("export") || tokens.accept("local")); // before a message or an enum
  }

  #message(name: string, nesting: number): ProtoMessage {
    if (nesting > maxNesting) {
      throw invalidProto(`messages are nested deeper than ${maxNesting}`);
    }
    this.#count.addMessage();
    const tokens = this.#tokens;
    const body = emptyBody();
    tokens.expect("{");
    while (!tokens.accept("}")) {
      if (tokens.accept("oneof")) {
        this.#oneof(body, nesting);
      } else if (tokens.accept("extensions") || tokens.accept("reserved")) {
        this.#skipStatement();
      } else if (!this.#declaration(body, nesting)) {
        this.#field(body, -1, nesting);
      }
    }
    const { fields, messages, enums, extensions, options } = body;
    return {
      name,
      fields,
      messages,
      enums,
      extensions,
      isMapEntry: textOf(options, "map_entry") === "true",
      features: featuresOf(options),
    };
  }

  /** Parses `extend`. The message of a group in it belongs to the scope in which `extend` stands. */
  #extend(body: Body, nesting: number): void {
    const tokens = this.#tokens;
    const extended = tokens.takePath();
    tokens.expect("{");
    const inside: Body = { ...body, fields: [] };
    while (!tokens.accept("}")) {
      if (!tokens.accept(";")) {
        this.#field(inside, -1, nesting);
      }
    }
    body.extensions.push(...inside.fields.map((field) => ({ extended, field })));
  }

  #oneof(body: Body, nesting: number): void {
    const tokens = this.#tokens;
    tokens.take("word");
    tokens.expect("{");
    const oneof = body.oneofs++;
    while (!tokens.accept("}")) {
      if (tokens.accept("option")) {
        parseOption(tokens);
        tokens.expect(";");
      } else if (!tokens.accept(";")) {
        this.#field(body, oneof, nesting);
      }
    }
  }

  #field(body: Body, oneof: number, nesting: number): void {
    const tokens = this.#tokens;
    this.#count.add();
    const label = oneof < 0 ? this.#label() : null;
    if (tokens.accept("group")) {
      this.#group(body, label, oneof, nesting);
      return;
    }
    const type = tokens.takePath();
    if (type === "map" && tokens.accept("<")) {
      this.#map(body);
      return;
    }
    const name = tokens.take("word");
    const number = this.#number();
    const options = parseFieldOptions(tokens);
    tokens.expect(";");
    body.fields.push(fieldOf({ name, number, label, type, isGroup: false, oneof }, options));
  }

  /** Parses a map field. It becomes a repeated field of a message for the pairs, as in descriptors. */
  #map(body: Body): void {
    const tokens = this.#tokens;
    const key = tokens.take("word");
    tokens.expect(",");
    const value = tokens.takePath();
    tokens.expect(">");
    const name = tokens.take("word");
    const number = this.#number();
    const options = parseFieldOptions(tokens);
    tokens.expect(";");
    const type = `${name.replace(/(?:^_*|_+)([^_]?)/g, (_, letter: string) => letter.toUpperCase())}Entry`; // order_lines_: OrderLinesEntry, as protoc names it
    const half = { label: null, isGroup: false, oneof: -1 } as const;
    const fields = [
      fieldOf({ ...half, name: "key", number: 1, type: key }, []),
      fieldOf({ ...half, name: "value", number: 2, type: value }, []),
    ];
    body.messages.push({ name: type, fields, messages: [], enums: [], extensions: [], isMapEntry: true, features: {} });
    body.fields.push(fieldOf({ name, number, label: "repeated", type, isGroup: false, oneof: -1 }, options));
  }

  #label(): ProtoField["label"] {
    for (const label of ["optional", "required", "repeated"] as const) {
      if (this.#tokens.accept(label)) {
        return label;
      }
    }
    return null;
  }

  /** Parses a group, which is a field and its message at once: `optional group Name = 1 { ... }`. */
  #group(body: Body, label: ProtoField["label"], oneof: number, nesting: number): void {
    const type = this.#tokens.take("word");
    const number = this.#number();
    const options = parseFieldOptions(this.#tokens);
    body.messages.push(this.#message(type, nesting + 1));
    body.fields.push(fieldOf({ name: type.toLowerCase(), number, label, type, isGroup: true, oneof }, options));
  }

  #number(): number {
    this.#tokens.expect("=");
    return numberOf(this.#tokens.take("number"));
  }

  #enum(): ProtoEnum {
    const tokens = this.#tokens;
    this.#count.add();
    const name = tokens.take("word");
    const values: { name: string; number: number }[] = [];
    tokens.expect("{");
    while (!tokens.accept("}")) {
      if (tokens.accept("option")) {
        parseOption(tokens);
        tokens.expect(";");
      } else if (tokens.accept("reserved")) {
        this.#skipStatement();
      } else if (!tokens.accept(";")) {
        this.#count.add();
        values.push(this.#enumValue());
      }
    }
    return { name, values };
  }

  #enumValue(): { name: string; number: number } {
    const tokens = this.#tokens;
    const name = tokens.take("word");
    tokens.expect("=");
    const sign = tokens.accept("-") ? -1 : 1;
    const number = sign * numberOf(tokens.take("number"));
    parseFieldOptions(tokens);
    tokens.expect(";");
    return { name, number };
  }

  #skipStatement(): void {
    while (!this.#tokens.accept(";")) {
      if (this.#tokens.peek().kind === "end") {
        throw this.#tokens.unexpected('";"');
      }
      this.#tokens.next();
    }
  }

  #skipBlock(): void {
    this.#tokens.expect("{");
    for (let open = 1; open > 0; ) {
      const { kind, text } = this.#tokens.next();
      if (kind === "end") {
        throw this.#tokens.unexpected('"}"');
      }
      open += kind !== "sign" ? 0 : text === "{" ? 1 : text === "}" ? -1 : 0;
    }
  }
}

/** Parses an integer: decimal, hexadecimal after `0x`, or octal after `0`. NaN if it is none. */
function numberOf(text: string): number {
  return /^0[0-7]+$/.test(text) ? Number.parseInt(text, 8) : Number(text);
}

interface Body {
  readonly fields: ProtoField[];
  readonly messages: ProtoMessage[];
  readonly enums: ProtoEnum[];
  readonly extensions: ProtoExtension[];
  readonly options: Option[];
  oneofs: number;
}

function emptyBody(): Body {
  return { fields: [], messages: [], enums: [], extensions: [], options: [], oneofs: 0 };
}

function fieldOf(field: Omit<ProtoField, "default" | "features" | "params">, options: readonly Option[]): ProtoField {
  const { name, number, label, type, isGroup, oneof } = field;
  const declared = textOf(options, "default");
  return { name, number, label, type, isGroup, oneof, default: declared, features: featuresOf(options), params: paramsOf(options) };
}
