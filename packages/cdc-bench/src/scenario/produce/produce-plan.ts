import { changeFormats, type ChangeFormat, type ChangeSource } from "../../load/change-events/index.ts";
import type { CompressionName } from "../../load/batch-writer/compression.ts";

/** One topic that gets the rows, and how they are written there. */
export interface TopicPlan {
  readonly topic: string;
  readonly format: ChangeFormat;
  readonly compression: CompressionName;
}

export const producedDatabase = "sales";
export const producedTable = "sales.salesorderdetail";

/** Formats that need no registry. */
export const formatsWithoutRegistry: readonly ChangeFormat[] = changeFormats.filter((format) => format.schemas(sourceOf("x")).length === 0);

/**
 * `PREFIX-FORMAT.sales.salesorderdetail`, as a Debezium connector with the topic prefix `PREFIX-FORMAT` names it; with several compressions
 * `PREFIX-FORMAT-COMPRESSION...`.
 */
export function planTopics(
  prefix: string,
  formats: readonly ChangeFormat[],
  compressions: readonly CompressionName[],
): readonly TopicPlan[] {
  return formats.flatMap((format) =>
    compressions.map((compression): TopicPlan => {
      const name = compressions.length === 1 ? `${prefix}-${format.name}` : `${prefix}-${format.name}-${compression}`;
      return { topic: `${name}.${producedTable}`, format, compression };
    }),
  );
}

/** The connector that seems to have written a topic. */
export function sourceOf(topic: string): ChangeSource {
  const [schema = "", table = ""] = producedTable.split(".");
  return {
    prefix: topic.endsWith(`.${producedTable}`) ? topic.slice(0, -producedTable.length - 1) : topic,
    database: producedDatabase,
    schema,
    table,
  };
}
