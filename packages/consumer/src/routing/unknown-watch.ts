import type { CdcEvent, UnknownEvent } from "@cdckit/decode";
import type { Counters } from "../observe/counters.ts";
import type { Logger } from "../observe/logger.ts";

/** Messages name the first topics. What comes of further ones is in the counts alone. */
const maxTopics = 30;

/** What values look like that nothing took: the text null beside a key, a text that is JSON itself, or anything else. */
type Form = "null" | "json-text" | "other";

type MissedBy = "nothing" | "no sink";

/** A topic's values of one form that nothing took, or no sink. */
interface Seen {
  readonly topic: string;
  readonly form: Form;
  /** Who did not take them: a handler of `*` may have. */
  readonly missedBy: MissedBy;
  count: number;
}

/**
 * Reports values that are neither a row nor a change, and that nothing took: they are committed, and whoever reads rows of their topic would miss
 * them in silence. The text `null` is what Debezium's ExtractNewRecordState makes of a delete by default, if JSON has no schemas.
 */
export class UnknownWatch {
  readonly #logger: Logger;
  readonly #seen = new Map<string, Seen>();

  constructor(logger: Logger, counters: Pick<Counters, "onFiltered" | "onLeftToAny">) {
    this.#logger = logger;
    counters.onFiltered = (event) => this.#leftOut(event, "nothing");
    counters.onLeftToAny = (event) => this.#leftOut(event, "no sink");
  }

  /** In words: what was left out so far, by topic. */
  get reasons(): readonly string[] {
    return [...this.#seen.values()].map(textOf);
  }

  #leftOut(event: CdcEvent, missedBy: MissedBy): void {
    if (event.kind !== "unknown") {
      return;
    }
    const { topic, partition, offset } = event.record;
    const form = formOf(event);
    const id = `${form}\0${missedBy}\0${topic}`;
    const known = this.#seen.get(id);
    if (known !== undefined) {
      known.count++;
    } else if (this.#seen.size < maxTopics) {
      const seen = { topic, form, missedBy, count: 1 };
      this.#seen.set(id, seen);
      this.#logger.warn({ topic, partition, offset, reason: textOf(seen) }, "a value that no envelope knows was left out");
    }
  }
}

function formOf({ key, value }: UnknownEvent): Form {
  if (value === null && key !== null && key !== undefined) {
    return "null";
  }
  return typeof value === "string" && /^\s*\{\s*"/.test(value) ? "json-text" : "other";
}

function textOf({ topic, form, missedBy, count }: Seen): string {
  const [values, are, them] = count === 1 ? ["value", "is", "it"] : ["values", "are", "them"];
  switch (form) {
    case "null":
      return (
        `${count} ${values} of ${topic} with a key ${are} the text null, and ${missedBy} took ${them}: a delete of ExtractNewRecordState, in JSON without schemas, ` +
        `looks like this, and its row stays; set delete.tombstone.handling.mode=rewrite in the connector, or take such values by on("unknown")`
      );
    case "json-text":
      return (
        `${count} ${values} of ${topic} ${are} a JSON string that holds JSON, and ${missedBy} took ${them}: the producer encodes its JSON text once more; let it write the text as it is ` +
        `(in a connector value.converter=org.apache.kafka.connect.storage.StringConverter), or take such values by on("unknown")`
      );
    case "other":
      return `${count} ${values} of ${topic} ${are} of no envelope that is known, and ${missedBy} took ${them}: set the hints of decoder.topics, or take such values by on("unknown")`;
  }
}
