import { readEverything } from "../../encoding/reader.ts";
import { listWith } from "../../list-with.ts";
import { Heartbeat } from "../control-events.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import { isBlock, numberOrNull } from "../source.ts";
import { hasHeartbeatFields, membersOfHeartbeat } from "./recognise.ts";

/**
 * A heartbeat of a connector whose `topic.heartbeat.prefix` is the user's own, without a schema: neither the topic nor a schema names it. The
 * key does, because it is the connector's name alone. A table whose rows have only a column `ts_ms` has no such key.
 */
export const keyedHeartbeat: EnvelopeFormat = {
  name: "debezium",
  recognise: ({ fields, typeName }) =>
    typeName === null && fields !== null && hasHeartbeatFields(fields) ? "exactly the fields of a heartbeat, which may be one" : null,
  planFor: () => readEverything,
  membersOf: () => membersOfHeartbeat,
  open: (value, origin) =>
    isBlock(value) && numberOrNull(value["ts_ms"]) !== null && isServerName(origin.key) ? listWith(new Heartbeat(value, origin)) : null,
};

/** Whether this is the key of a heartbeat, which `StringConverter` writes as Connect shows its structs. */
function isServerName(key: unknown): boolean {
  return typeof key === "string"
    ? /^Struct\{serverName=.+\}$/.test(key)
    : isBlock(key) && typeof key["serverName"] === "string" && Object.keys(key).length === 1;
}
