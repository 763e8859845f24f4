/**
 * One way to turn a value into bytes and back. A benchmark measures both halves; `testCodecContract` checks that nothing is lost between
 * them. Either half may answer with a promise, as compressors of streams do.
 */
export interface Codec<T> {
  /** What a table calls it: `avro, deflate (avsc)`. */
  readonly name: string;
  /** The bytes belong to the caller: a later call does not change them. */
  serialize(value: T): Uint8Array | Promise<Uint8Array>;
  /**
   * The value that the bytes hold.
   * @throws on bytes that are cut or are not of this codec
   */
  deserialize(bytes: Uint8Array): T | Promise<T>;
}

/** A codec that only reads: the bytes that another codec wrote. Its writing is not measured. */
export interface ReadingCodec<T> {
  readonly name: string;
  /** The name of the codec that writes for it. */
  readonly reads: string;
  deserialize(bytes: Uint8Array): T | Promise<T>;
}

export function isReadingCodec<T>(codec: Codec<T> | ReadingCodec<T>): codec is ReadingCodec<T> {
  return "reads" in codec;
}
