export { createDecoder } from "./decoder.ts";
export type { Decoder, DecoderOptions, LearnOptions, SideHints, TopicHints } from "./decoder.ts";
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
  ToObjectOptions,
  TombstoneEvent,
  TransactionEvent,
  TransactionPosition,
  TruncateEvent,
  UnknownEvent,
  UpdateDescription,
  WatermarkEvent,
} from "./event.ts";
export type {
  ApicurioIdSpace,
  BinaryHandling,
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
export type {
  JsonSchemaDocuments,
  JsonSchemaPlace,
  JsonSchemaValidator,
  JsonSchemaValidatorOptions,
  ValidateJson,
} from "./json-schema-validator.ts";
export type { KafkaRecord, RecordBatch, RecordBytes, RecordCursor, RecordHeaders, RecordWalk } from "./record.ts";
export { headerNamesEqual, RecordObjectsWalk } from "./record.ts";
export { comparePosition, positionOf } from "./position/position.ts";
export type { SourcePosition } from "./position/position.ts";
export type { RegisteredSchema, SchemaId, SchemaLoadFailure, SchemaReference, SchemaSource, SchemaType } from "./schema-source.ts";
export { applyTo, UNAVAILABLE } from "./values/unavailable.ts";
export { claimCheckOf } from "./values/claim-check.ts";
export type { ClaimCheck } from "./values/claim-check.ts";
export { debeziumContext } from "./envelope/debezium/context.ts";
export type { DebeziumContext } from "./envelope/debezium/context.ts";
export { signalOf } from "./envelope/debezium/signal.ts";
export type { DebeziumSignal } from "./envelope/debezium/signal.ts";
export { describeSchema } from "./detect/explain/describe-schema.ts";
export type { ColumnSelector, RowSlot } from "./column-selector.ts";
export type { SchemaListener, SchemaSeen } from "./schema-seen.ts";
// For users' own formats: `createDecoder({ formats })`.
export type { Formats } from "./detect/formats.ts";
export type { CompileOptions, DeferredField, PayloadReader, ReadPlan } from "./encoding/reader.ts";
export { Deferred, readEverything } from "./encoding/reader.ts";
export type { ParsedSchema, PlainEncoding, SchemaEncoding } from "./encoding/schema-encoding.ts";
export type { AnyType, Field, MapType, PrimitiveKind, PrimitiveType, RecordType, Type, UnionType } from "./encoding/type.ts";
export { withoutNull } from "./encoding/type.ts";
export { fingerprintId, schemasByFingerprint } from "./encoding/avro/fingerprint.ts";
export type { EnvelopeFormat, EnvelopeScope, Route, Shape } from "./envelope/envelope.ts";
export type { Origin } from "./envelope/origin.ts";
export { withParts } from "./envelope/with-parts.ts";
export type { EventParts } from "./envelope/with-parts.ts";
export { EnvelopedChange } from "./envelope/change-event.ts";
export { PlainRow, UnknownValue } from "./envelope/control-events.ts";
export type { Frame, Framing, Message, MessageChoice, Payload, Side } from "./framing/framing.ts";
export type { ResolvedLimits, ResolvedValidation, ResolvedValueOptions } from "./options.ts";
export type { MessageSelector } from "./schema-source.ts";
export type { Semantic } from "./values/conversion.ts";
export { columnHintsOf, columnHintsOfTable } from "./stream/column-hints.ts";
export type { ColumnHintTexts } from "./stream/column-hints.ts";
export { UntypedColumns } from "./detect/semantics/untyped-columns.ts";
export type { UntypedColumn, UntypedColumnsOptions, UntypedKind } from "./detect/semantics/untyped-columns.ts";
export { defaultModes } from "./values/native-column.ts";
export type { ConnectorModes, NativeColumn } from "./values/native-column.ts";
export { semanticTypes } from "./values/known-semantic.ts";
export { nativeSemantic } from "./values/native-semantic.ts";
// What can be found out only from several events together.
export type { AssembledItem, AssembledTransaction, MissingEvents, TransactionalEvent } from "./stream/assembled-item.ts";
export { Deduplicator } from "./stream/deduplicator.ts";
export type { DeduplicatorOptions, Positions } from "./stream/deduplicator.ts";
export { KeyChangeLinker } from "./stream/key-change-linker.ts";
export type { KeyChangeLinkerOptions, LinkedItem } from "./stream/key-change-linker.ts";
export { learnedFromKey, learnedFromSource, SchemaChangeLearner } from "./stream/learned-columns.ts";
export type { LearnedColumns, SchemaChangeLearnerOptions } from "./stream/learned-columns.ts";
export { sourcePositions } from "./stream/source-positions.ts";
export { TransactionAssembler } from "./stream/transaction-assembler.ts";
export type { TransactionAssemblerOptions } from "./stream/transaction-assembler.ts";
export { diffTypes } from "./stream/type-difference.ts";
export type { ColumnChange, ColumnType } from "./stream/type-difference.ts";
export { watchSchemas } from "./stream/watch-schemas.ts";
export type { SchemaChange, SchemaChangeListener, WatchSchemasOptions } from "./stream/watch-schemas.ts";
