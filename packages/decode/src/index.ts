export { createDecoder } from "./decoder.ts";
export type { Decoder, DecoderOptions, SideHints, TopicHints } from "./decoder.ts";
export type { Candidate, Explanation } from "./explanation.ts";
export { DecodeError, isDecodeError } from "./errors.ts";
export type { DecodeErrorCode, DecodeErrorOptions, RecordCoordinates } from "./errors.ts";
export type {
  CdcEvent,
  ChangeEvent,
  Columns,
  EncodingName,
  EnvelopeName,
  EventBase,
  FramingName,
  HeartbeatEvent,
  KeyChange,
  MessageEvent,
  NotificationEvent,
  Operation,
  RecordRef,
  RowEvent,
  SchemaChangeEvent,
  Source,
  TableName,
  TombstoneEvent,
  TransactionEvent,
  TransactionPosition,
  TruncateEvent,
  UnknownEvent,
  UpdateDescription,
  WatermarkEvent,
} from "./event.ts";
export type {
  BitsMode,
  DecimalMode,
  DecodeLimits,
  Int64Mode,
  JsonMode,
  NumberMode,
  TemporalLike,
  TimeMode,
  ValidationMode,
  ValueOptions,
} from "./options.ts";
export type { KafkaRecord, RecordBatch, RecordBytes, RecordCursor, RecordHeaders, RecordWalk } from "./record.ts";
export { headerNamesEqual, RecordObjectsWalk } from "./record.ts";
export type { RegisteredSchema, SchemaId, SchemaLoadFailure, SchemaReference, SchemaSource, SchemaType } from "./schema-source.ts";
export { applyTo, UNAVAILABLE } from "./values/unavailable.ts";
