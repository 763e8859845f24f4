import type { EventBase } from "../../event.ts";
import { resolveLimits, resolveValueOptions } from "../../options.ts";
import { headerText } from "../header-values.ts";

/** The connector that sent a record, as the record's headers name it. A part is null if the headers do not state it. */
export interface DebeziumContext {
  /** The topic prefix. */
  readonly connectorLogicalName: string | null;
  /** The connector's type: `postgresql`, `mysql`, ... */
  readonly connectorName: string | null;
  /** The number of the connector's task, as text. */
  readonly taskId: string | null;
  /** The id of this run of the connector. It changes with each start. */
  readonly runId: string | null;
}

const prefix = "__debezium.context.";
const scope = { values: resolveValueOptions(), limits: resolveLimits() };

/** The headers `__debezium.context.*` of an event's record, with any header converter; null if the record has none of them. */
export function debeziumContext({ record }: Pick<EventBase, "record">): DebeziumContext | null {
  const { headers } = record;
  const part = (name: string): string | null => headerText(headers, prefix + name, scope);
  return headers.some(([name]) => name.startsWith(prefix))
    ? {
        connectorLogicalName: part("connectorLogicalName"),
        connectorName: part("connectorName"),
        taskId: part("taskId"),
        runId: part("runId"),
      }
    : null;
}
