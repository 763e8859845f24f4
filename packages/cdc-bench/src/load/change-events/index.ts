// Change events of the published table (sales order detail), the same rows in each format, as Debezium and Kafka Connect write them.
export { type ChangeRecord, type ChangeSource, type ChangeStream, type ChangeStreamOptions, createChangeStream } from "./change-stream.ts";
export type { ChangeEncoder, ChangeFormat, NeededSchema, SchemaIds } from "./change-format.ts";
export { changeFormat, changeFormats } from "./change-formats.ts";
export { type ChangeFormatName, changeFormatName, changeFormatNames } from "./format-names.ts";
export type { Envelope, EnvelopeKey, EnvelopeOp, EnvelopeSource, EnvelopeTransaction } from "./envelope.ts";
export { changeOps, type ChangeOp, defaultOpMix, type OpMix, opMixOf, snapshotOnly } from "./op-mix.ts";
export { registerSchemas } from "./register-schemas.ts";
export { subjectsOf } from "./subjects.ts";
export { type SalesOrderRow, salesOrderRow } from "./sales-order-row.ts";
