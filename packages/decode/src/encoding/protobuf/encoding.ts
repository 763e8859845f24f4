import type { ParsedSchema, SchemaEncoding } from "../schema-encoding.ts";
import { Cursor } from "./cursor.ts";
import { invalidProto } from "./file.ts";
import { fits } from "./fits.ts";
import { compileProtobufReader } from "./reader.ts";
import { ProtobufSchema } from "./schema.ts";

/** Protobuf (proto2, proto3 and editions), read with the `.proto` text or the descriptor that a registry keeps. */
export const protobuf: SchemaEncoding = {
  name: "protobuf",
  schemaType: "PROTOBUF",
  losesSemantics: true,
  parse: (registered, limits): ParsedSchema => {
    const schema = new ProtobufSchema(registered, limits);
    return {
      typeOf: (selected) => {
        const message = schema.select(selected);
        return message === null ? null : schema.typeOf(message);
      },
      compile: (selected, options) => {
        const message = schema.select(selected);
        if (message === null) {
          throw invalidProto("it lacks the message that the record names; check whether the record was written with it");
        }
        const findMessage = (fullName: string) => schema.message(fullName);
        return compileProtobufReader(message, schema.typeOf(message), { ...options, findMessage });
      },
      readingsOf: (selected) => schema.readingsOf(selected),
      fits: (selected, bytes, start, end) => {
        const message = schema.select(selected);
        return message !== null && fits(message, new Cursor(limits), bytes, start, end);
      },
    };
  },
};
