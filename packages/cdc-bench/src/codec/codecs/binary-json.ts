import { decode as fromMessagePack, encode as toMessagePack } from "@msgpack/msgpack";
import { decode as fromCbor, encode as toCbor } from "cborg";
import type { Codec } from "../codec.ts";

/** MessagePack: the names of fields are in every object. */
export function messagePackCodec<T>(): Codec<T> {
  return { name: "msgpack", serialize: (value) => toMessagePack(value), deserialize: (bytes) => fromMessagePack(bytes) as T };
}

/** CBOR: the names of fields are in every object. */
export function cborCodec<T>(): Codec<T> {
  return { name: "cbor (cborg)", serialize: (value) => toCbor(value), deserialize: (bytes) => fromCbor(bytes) as T };
}
