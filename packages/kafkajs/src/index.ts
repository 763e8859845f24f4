export { kafkajs } from "./kafkajs.ts";
export type { BrokerAddress, ConnectTo, KafkaJsConnection, KafkaJsOptions, KafkaJsTuning, OwnKafka } from "./options.ts";
export { isKafkaJsDriverError, KafkaJsDriverError } from "./errors.ts";
export type { KafkaJsDriverErrorCode, KafkaJsDriverErrorOptions } from "./errors.ts";
export { readClientProperties } from "./client-properties.ts";
export type { ClientProperties } from "./client-properties.ts";
export { diagnoseConnection } from "./connection-diagnosis.ts";
export type { ConnectionAttempt, ConnectionDiagnosis, SettingNames } from "./connection-diagnosis.ts";
