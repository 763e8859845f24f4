import type { EventBase } from "../../event.ts";
import { resolveLimits, resolveValueOptions } from "../../options.ts";
import { headerText } from "../header-values.ts";

/** Which connector sent a record, as its headers say; each part is null where they do not. */
export interface DebeziumContext {
  /** The topic prefix. */
  readonly connectorLogicalName: string | null;
  /** The connector's type: `postgresql`, `mysql`, ... */
  readonly connectorName: string | null;
  readonly taskId: string | null;
  /** One for each start of the connector. */
  readonly runId: string | null;
}

const prefix = "__debezium.context.";
const scope = { values: resolveValueOptions(), limits: resolveLimits() };

/** What the headers `__debezium.context.*` of an event's record say, whichever header converter wrote them; null where there are none. */
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
