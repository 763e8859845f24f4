import { DecodeError } from "../../errors.ts";

/**
 * One `.proto` file as it is written: names are not resolved yet. Its text and its descriptor (`FileDescriptorProto`) are two spellings of
 * this. Every name is data and may hold anything.
 */
export interface ProtoFile {
  readonly package: string;
  readonly syntax: "proto2" | "proto3" | "editions";
  readonly features: Features;
  readonly messages: readonly ProtoMessage[];
  readonly enums: readonly ProtoEnum[];
  readonly extensions: readonly ProtoExtension[];
}

/** A field that another message is given. Those of options are among them: their messages are in no schema. */
export interface ProtoExtension {
  /** The reference to the message. */
  readonly extended: string;
  readonly field: ProtoField;
}

export interface ProtoMessage {
  readonly name: string;
  /** In the order of their declaration. */
  readonly fields: readonly ProtoField[];
  readonly messages: readonly ProtoMessage[];
  readonly enums: readonly ProtoEnum[];
  /** Declared inside of this message, for whichever. */
  readonly extensions: readonly ProtoExtension[];
  /** What a map field makes: the message of its pairs, of which the field has many. It stands where the field is declared. */
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
  /** Tells the oneofs of a message apart; -1 outside of one. */
  readonly oneof: number;
  /** The default that is stated, as one character a byte. */
  readonly default: string | null;
  readonly features: Features;
  /** Confluent's own notes on a field: `(confluent.field_meta).params`. */
  readonly params: ReadonlyMap<string, string>;
}

export interface ProtoEnum {
  readonly name: string;
  readonly values: readonly { readonly name: string; readonly number: number }[];
}

/** What editions let a file, a message and a field choose. */
export interface Features {
  readonly presence?: string;
  readonly encoding?: string;
}

/** Deepest nesting of messages, and of option values, in a file. */
export const maxNesting = 64;

/** Counts messages, fields, enums and their values over a schema and its references. A message counts as ten: 10,000 at most. */
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

/** The error of a schema that cannot be used. */
export function invalidProto(detail: string): DecodeError {
  return new DecodeError("schema-invalid", `the Protobuf schema cannot be used: ${detail}`);
}

/** A name in an error: quoted, and cut where it is long. */
export function shownName(name: string): string {
  return JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}...` : name);
}
