// The consumer.
export { createConsumer } from "./consumer.ts";
export type { Consumer } from "./consumer.ts";
export type { ConsumerOptions } from "./options.ts";
export type { WorkersConsumer } from "./workers/workers-consumer.ts";
export type { WorkersHealth } from "./workers/joined-health.ts";
export type {
  MakeWorkerConsumer,
  WorkerConsumerOptions,
  WorkerPlace,
  WorkerResourceLimits,
  WorkersOptions,
} from "./workers/workers-options.ts";
export type { RunnableConsumer } from "./workers/runnable-consumer.ts";
export type { OffsetOption, StartOption } from "./start-position.ts";
export type { RunOptions } from "./run-options.ts";
export type { Startup } from "./startup.ts";
export type { BatchOptions, DeliveryOptions } from "./delivery/delivery-options.ts";
export type { BreakerOptions, FailureOptions, RetryOptions, SkippedRecord } from "./failure/failure-options.ts";
export type { Delivery } from "./delivery/stream-dispatcher.ts";
export { ConsumerError, isConsumerError } from "./errors.ts";
export type { ConsumerErrorCode, ConsumerErrorOptions } from "./errors.ts";

// Handlers.
export type {
  AnyChangeEvent,
  AnyHandler,
  ControlEvents,
  ControlKind,
  CreateEvent,
  DeleteEvent,
  EventHandler,
  Keyed,
  BatchKeyedTableHandlers,
  BatchTableHandlers,
  EachKeyedTableHandlers,
  EachTableHandlers,
  KeyedTableHandlers,
  ReadEvent,
  StreamEvent,
  TableEvent,
  TableHandlers,
  TableTypes,
  UntypedPattern,
  UpdateEvent,
} from "./routing/handlers.ts";
export type { ColumnSelection, On, OnAnyTable, OnOther, OnTableOf, SelectedRow } from "./routing/on.ts";
export type { KeyChecks, RowChecks, StandardResult, StandardSchema } from "./routing/row-checks.ts";

// For what registers handlers by other means, as decorators.
export { isControlKind, tableSlots } from "./routing/handlers.ts";
export type { TableSlot } from "./routing/handlers.ts";

// Dead letters.
export { deadLetterOf, redriveOf } from "./failure/dead-letter-origin.ts";
export type { DeadLetterOrigin } from "./failure/dead-letter-origin.ts";
export type { IsRetriable } from "./failure/classify.ts";

// What it says of itself.
export type { Health, PartitionHealth } from "./observe/health.ts";
export type { HealthOptions, TelemetryOptions } from "./observe/observe-options.ts";
export type { OpenTelemetryApi } from "./observe/opentelemetry.ts";
export type { PrometheusRegistry } from "./observe/prometheus.ts";
export type { ConsumerMessages } from "./observe/channels.ts";
export type { Counts } from "./observe/counters.ts";
export type { OpenWait, WaitFor, WaitReport } from "./observe/waits.ts";
export type { FilterReason } from "./routing/router.ts";
export type { Phase } from "./lifecycle.ts";
export type { Logger } from "./observe/logger.ts";
export { silentLogger } from "./observe/logger.ts";

// For sinks.
export type { PipeFunction } from "./delivery/pipe-sink.ts";
export type { SinkOptions } from "./routing/attached-sinks.ts";
export type { Sink, SinkBatch } from "./sink.ts";

// For tests that own the clock.
export type { Clock } from "./clock.ts";
export { systemClock } from "./clock.ts";

// For drivers.
export type {
  CapabilityName,
  Compression,
  DriverCapabilities,
  DriverSession,
  DriverSink,
  FetchedBatch,
  KafkaDriver,
  LogRange,
  LostRange,
  LostRangePolicy,
  NextAcknowledgement,
  RecreatedTopic,
  OffsetCommit,
  OutgoingRecord,
  PartitionAssignment,
  StartPosition,
  Subscription,
  TopicCreation,
  WrittenTopic,
} from "./driver.ts";
