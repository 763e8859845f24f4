import type { RecordType, Type } from "../encoding/type.ts";

/** The most characters of a type's text. References by name can make a short schema very long when it is written out. */
const maxChars = 16_384;

/** A type as one text. Equal types have the same text. A record inside of itself is written as its name. */
export function typeText(type: Type): string {
  const writer = new TypeWriter();
  writer.write(type);
  return writer.text;
}

class TypeWriter {
  text = "";
  readonly #around: RecordType[] = [];

  write(type: Type): void {
    if (this.text.length > maxChars) {
      return;
    }
    this.#shape(type);
    if (type.semantic !== undefined) {
      const { name, parameters } = type.semantic;
      const declared = Object.entries(parameters).sort(([one], [other]) => (one < other ? -1 : 1));
      this.#add(` as ${name}${declared.map(([parameter, value]) => `, ${parameter} ${value}`).join("")}`);
    }
  }

  #shape(type: Type): void {
    switch (type.kind) {
      case "fixed":
        return this.#add(`fixed(${type.size})`);
      case "enum":
        return this.#add(`enum(${type.symbols.join()})`);
      case "array":
        return this.#list("array<", [type.items], ">");
      case "map":
        return this.#list("map<", type.keys === null ? [{ kind: "string" }, type.values] : [type.keys, type.values], ">");
      case "union":
        return this.#list("(", type.branches, ")");
      case "record":
        return this.#record(type);
      default:
        return this.#add(type.kind);
    }
  }

  #list(opening: string, types: readonly Type[], closing: string): void {
    this.#add(opening);
    for (const [i, type] of types.entries()) {
      if (this.text.length > maxChars) {
        break;
      }
      this.#add(i === 0 ? "" : ", ");
      this.write(type);
    }
    this.#add(closing);
  }

  #record(type: RecordType): void {
    if (this.#around.includes(type)) {
      return this.#add(`record ${type.name ?? ""}`);
    }
    this.#around.push(type);
    this.#add("{");
    for (const field of type.fields) {
      if (this.text.length > maxChars) {
        break;
      }
      this.#add(` ${JSON.stringify(field.name)}: `);
      this.write(field.type);
    }
    this.#add(" }");
    this.#around.pop();
  }

  #add(text: string): void {
    this.text += text.length > maxChars ? text.slice(0, maxChars) : text;
  }
}
