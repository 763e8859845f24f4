import { readFileSync } from "node:fs";
import { KafkaJsDriverError } from "./errors.ts";

/** Settings by Java's names, wherever they were read. Each is taken once. */
export class Properties {
  readonly #left: Map<string, string>;
  /** What the user has written for a property: its own name, or that of a variable. Errors have it. */
  readonly nameOf: (property: string) => string;

  readonly #from: string;

  constructor(entries: ReadonlyMap<string, string>, from = "a file", nameOf: (property: string) => string = (property) => property) {
    this.#left = new Map(entries);
    this.#from = from;
    this.nameOf = nameOf;
  }

  /** Undefined if the property is not there, or empty. */
  take(name: string): string | undefined {
    const value = this.#left.get(name)?.trim();
    this.#left.delete(name);
    return value === "" ? undefined : value;
  }

  required(name: string): string {
    return this.take(name) ?? refuse(`expected ${this.nameOf(name)}, found none`);
  }

  /** The property is there, whatever it is: an empty one means something, too. */
  isThere(name: string): boolean {
    return this.#left.has(name);
  }

  choice<Choice>(name: string, choices: Readonly<Record<string, Choice>>): Choice | undefined {
    const value = this.take(name);
    if (value === undefined) {
      return undefined;
    }
    return Object.hasOwn(choices, value)
      ? choices[value]
      : refuse(`expected ${this.nameOf(name)} to be one of ${Object.keys(choices).join(", ")}, found ${JSON.stringify(value)}`);
  }

  number(name: string): number | undefined {
    const value = this.take(name);
    if (value !== undefined && !/^\d{1,15}$/.test(value)) {
      refuse(`expected ${this.nameOf(name)} to be a number`);
    }
    return value === undefined ? undefined : Number(value);
  }

  /** What is written in a file that a property names. */
  file(name: string): Buffer | undefined {
    const path = this.take(name);
    try {
      return path === undefined ? undefined : readFileSync(path);
    } catch (cause) {
      throw new KafkaJsDriverError("invalid-option", `the file that ${this.nameOf(name)} names cannot be read`, { cause });
    }
  }

  /** The names that nothing has taken. What would change how the connection is secured is refused. */
  rest({ tls, login }: { readonly tls: boolean; readonly login: boolean }): readonly string[] {
    const unknown = [...this.#left.keys()].find((name) => (tls && name.startsWith("ssl.")) || (login && name.startsWith("sasl.")));
    return unknown === undefined
      ? [...this.#left.keys()].map((name) => this.nameOf(name))
      : refuse(`${this.nameOf(unknown)} cannot be read from ${this.#from}: set it in code, as an option of kafkajs()`);
  }
}

export function refuse(detail: string): never {
  throw new KafkaJsDriverError("invalid-option", detail);
}
