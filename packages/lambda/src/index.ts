export { createLambdaHandler } from "./lambda-handler.ts";
export type { LambdaContext, LambdaHandler, LambdaTableHandlers } from "./lambda-handler.ts";
export type { LambdaHandlerOptions } from "./options.ts";
export type { KafkaBatchItemFailure, KafkaBatchResponse, KafkaEvent, KafkaEventRecord } from "./kafka-event.ts";
export { isLambdaError, LambdaError } from "./errors.ts";
export type { LambdaErrorCode } from "./errors.ts";
