import type { ResolvedLimits } from "../../options.ts";
import type { MessageSelector, RegisteredSchema } from "../../schema-source.ts";
import type { Type } from "../type.ts";
import { builtInFiles } from "./built-in.ts";
import { parseDescriptor } from "./descriptor.ts";
import { invalidProto, PartCount, type ProtoFile, type ProtoMessage } from "./file.ts";
import { type Message, Resolver } from "./messages.ts";
import { join, Names } from "./names.ts";
import { parseProtoText } from "./text.ts";
import { TypeBuilder } from "./types.ts";

/** A `.proto` file with all files that it imports. */
export class ProtobufSchema {
  readonly #file: ProtoFile;
  readonly #names: Names;
  readonly #resolver: Resolver;
  readonly #types = new TypeBuilder();

  constructor({ schema, references = [] }: RegisteredSchema, limits: Pick<ResolvedLimits, "maxSchemaChars">) {
    const count = new PartCount();
    const chars = references.reduce((sum, reference) => sum + reference.schema.length, schema.length);
    if (chars > limits.maxSchemaChars) {
      throw invalidProto(`it and its references have more than ${limits.maxSchemaChars} characters (limits.maxSchemaChars)`);
    }
    this.#file = parseFile(schema, count);
    this.#names = new Names();
    this.#names.addFile(this.#file, false);
    for (const reference of references) {
      this.#names.addFile(parseFile(reference.schema, count), isBuiltInFile(reference.name));
    }
    for (const file of builtInFiles()) {
      this.#names.addFile(file, true);
    }
    this.#resolver = new Resolver(this.#names);
  }

  /** The message of a file that a selector chooses, or null if there is none. */
  select(selected: MessageSelector | null): Message | null {
    const fullName = this.#selectedName(selected ?? { kind: "path", path: [0] });
    return fullName === null ? null : this.message(fullName);
  }

  /** The messages that a path may mean if it is unknown how many map entries its writer counted before each message: all, none or some. */
  readingsOf(selected: MessageSelector): readonly MessageSelector[] {
    return selected.kind === "path" ? pathReadings(this.#file, selected.path).map((name) => ({ kind: "name", name })) : [];
  }

  /** The message with this full name, in any file. */
  message(fullName: string): Message | null {
    const named = this.#names.get(fullName);
    return named?.kind === "message" ? this.#resolver.message(named) : null;
  }

  typeOf(message: Message): Type {
    return this.#types.typeOf(message);
  }

  #selectedName(selected: MessageSelector): string | null {
    switch (selected.kind) {
      case "path":
        return pathName(this.#file, selected);
      case "name":
        return this.#fullName(selected.name.replace(/^\./, ""));
      case "sorted":
        return allNames(this.#file).sort(byCodeUnits)[selected.index] ?? null;
    }
  }

  /** Apicurio's serializer leaves out the file's package, and the messages around a nested one, whose bare name may be that of only one. */
  #fullName(name: string): string {
    const known = [name, join(this.#file.package, name)].find((fullName) => this.#names.get(fullName)?.kind === "message");
    const nested = known === undefined ? allNames(this.#file).filter((fullName) => fullName.endsWith(`.${name}`)) : [];
    return known ?? (nested.length === 1 ? nested[0] : undefined) ?? name;
  }
}

/** Whether the file is one of Google's or Confluent's own. Our built-in copy of it counts, even if the registry brings another one. */
function isBuiltInFile(name: string): boolean {
  return /^(?:google\/(?:protobuf|type)|confluent)\//.test(name);
}

function parseFile(schema: string, count: PartCount): ProtoFile {
  try {
    return looksLikeBase64(schema) ? parseDescriptor(Buffer.from(schema, "base64"), count) : parseProtoText(schema, count);
  } catch (error) {
    if (error instanceof RangeError) {
      throw invalidProto("its text is too long or nested too deep to be parsed");
    }
    throw asSchemaInvalid(error);
  }
}

/** An error inside a descriptor means a bad schema, not a bad message. */
function asSchemaInvalid(error: unknown): unknown {
  const isOwn = error instanceof Error && "code" in error && error.code !== "schema-invalid";
  return isOwn ? invalidProto("expected the base64 text of a FileDescriptorProto, found other bytes") : error;
}

/** Base64 has no blanks and no punctuation except `+/=`. A `.proto` text of any use has both. */
function looksLikeBase64(schema: string): boolean {
  return schema.length > 0 && schema.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(schema);
}

/** The message at a path of indexes, each among the messages of one scope. */
function pathName(file: ProtoFile, { path, mapEntries = false }: MessageSelector & { readonly kind: "path" }): string | null {
  let scope = file.package;
  let messages: readonly ProtoMessage[] = file.messages;
  for (const index of path) {
    const message = messages.filter(({ isMapEntry }) => mapEntries || !isMapEntry)[index];
    if (message === undefined || message.isMapEntry) {
      return null; // no serializer writes a map's pair as a message
    }
    scope = join(scope, message.name);
    messages = message.messages;
  }
  return path.length === 0 ? null : scope;
}

/** At most so many readings of a path are tried. */
const maxReadings = 6;

function pathReadings(file: ProtoFile, path: readonly number[]): readonly string[] {
  const [first = -1, ...inner] = path;
  const outer = file.messages[first];
  let found = outer === undefined ? [] : [{ name: join(file.package, outer.name), messages: outer.messages }];
  for (const index of inner) {
    found = found.flatMap(({ name, messages }) => {
      const own = messages.filter(({ isMapEntry }) => !isMapEntry);
      const inReach = own.slice(Math.max(0, index - (messages.length - own.length)), index + 1);
      return inReach.map((message) => ({ name: join(name, message.name), messages: message.messages }));
    });
    found = found.slice(0, maxReadings);
  }
  return inner.length === 0 ? [] : found.map(({ name }) => name);
}

/** The full names of all messages of a file, map entries included: Glue counts the messages of the descriptor. */
function allNames(file: ProtoFile): string[] {
  const names: string[] = [];
  const add = (scope: string, messages: readonly ProtoMessage[]): void => {
    for (const message of messages) {
      const fullName = join(scope, message.name);
      names.push(fullName);
      add(fullName, message.messages);
    }
  };
  add(file.package, file.messages);
  return names;
}

function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
