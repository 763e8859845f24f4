/**
 * The messages of Canal's client protocol that reach Kafka, with the field numbers of `CanalProtocol.proto` and `EntryProtocol.proto`.
 * `body` and `messages` are bytes there and messages here, which is the same on the wire. The type of an entry says which message its
 * `storeValue` is. Canal has used proto2 and proto3 for these files; this schema reads both.
 */
export const canalSchema = `
syntax = "proto2";
package canal;

message Packet { optional int32 type = 3; optional int32 compression = 4; optional Messages body = 5; }
message Messages { optional int64 batch_id = 1; repeated Entry messages = 2; }
message Entry { optional Header header = 1; optional int32 entryType = 2 [default = 2]; optional bytes storeValue = 3; }
message Header {
  optional string logfileName = 2;
  optional int64 logfileOffset = 3;
  optional int64 serverId = 4;
  optional int64 executeTime = 6;
  optional string schemaName = 8;
  optional string tableName = 9;
  optional string gtid = 13;
}
message RowChange {
  optional int32 eventType = 2 [default = 2];
  optional bool isDdl = 10;
  optional string sql = 11;
  repeated RowData rowDatas = 12;
  optional string ddlSchemaName = 14;
}
message RowData { repeated Column beforeColumns = 1; repeated Column afterColumns = 2; }
message Column {
  optional int32 sqlType = 2;
  optional string name = 3;
  optional bool isKey = 4;
  optional bool isNull = 6;
  optional string value = 8;
  optional string mysqlType = 10;
}
message Transaction { optional int64 executeTime = 1; optional string transactionId = 2; }
`;
