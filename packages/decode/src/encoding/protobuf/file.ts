import { DecodeError } from "../../errors.ts";

/**
 * One `.proto` file as it is written: names are not resolved yet. The parser of texts and the parser of descriptors (`FileDescriptorProto`)
 * both make this. Names come from schemas and may hold anything: they are only data.
 */
export interface ProtoFile {
  readonly package: string;
  readonly syntax: "proto2" | "proto3" | "editions";
  readonly features: Features;
  readonly messages: readonly ProtoMessage[];
  readonly enums: readonly ProtoEnum[];
  readonly extensions: readonly ProtoExtension[];
}

/** A field that a file adds to another message. Extensions of options are among them, although no schema has the messages of options. */
export interface ProtoExtension {
  /** The reference to the message that is extended. */
  readonly extended: string;
  readonly field: ProtoField;
}

export interface ProtoMessage {
  readonly name: string;
  /** In the order of their declaration. */
  readonly fields: readonly ProtoField[];
  readonly messages: readonly ProtoMessage[];
  readonly enums: readonly ProtoEnum[];
  /** Extensions that are declared inside of this message. They may extend any message. */
  readonly extensions: readonly ProtoExtension[];
  /**
   * Whether a map field made this message: it is the message of the map's pairs, and the field is repeated. It stands at the place of its
   * field.
   */
  readonly isMapEntry: boolean;
  readonly features: Features;
}

export interface ProtoField {
  readonly name: string;
  readonly number: number;
  readonly label: "optional" | "required" | "repeated" | null;
  /** A scalar's name or a reference to a message or an enum. */
  readonly type: string;
  readonly isGroup: boolean;
  /** The number of the field's oneof in its message; -1 if it is in none. */
  readonly oneof: number;
  /** The default that the schema declares, with one character for each byte. */
  readonly default: string | null;
  readonly features: Features;
  /** Confluent's own notes on a field: `(confluent.field_meta).params`. */
  readonly params: ReadonlyMap<string, string>;
}

export interface ProtoEnum {
  readonly name: string;
  readonly values: readonly { readonly name: string; readonly number: number }[];
}

/** The features that editions let a file, a message and a field choose. */
export interface Features {
  readonly presence?: string;
  readonly encoding?: string;
}

/** How deep messages and option values may be nested in a file. */
export const maxNesting = 64;

/**
 * Counts the messages, fields, enums and enum values of a schema and its references. A message counts as ten, so there are 10,000 messages
 * at most.
 */
export class PartCount {
  #parts = 0;

  add(): void {
    this.#count(1);
  }

  addMessage(): void {
    this.#count(partsOfMessage);
  }

  #count(parts: number): void {
    this.#parts += parts;
    if (this.#parts > maxParts) {
      throw invalidProto(`it has more than ${maxParts / partsOfMessage} messages, or ${maxParts} fields and enum values`);
    }
  }
}

const maxParts = 100_000;
const partsOfMessage = 10;

/** The error for a schema that cannot be used. */
export function invalidProto(detail: string): DecodeError {
  return new DecodeError("schema-invalid", `the Protobuf schema cannot be used: ${detail}`);
}

/** A name as an error shows it: in quotes, and cut if it is long. */
export function shownName(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}...` : name);
}
