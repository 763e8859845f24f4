import { type CdcEvent, type Decoder, type RecordCursor, type TopicHints, type UntypedColumn, UntypedColumns } from "@cdckit/decode";
import type { Logger } from "./observe/logger.ts";

export interface HintWatchOptions {
  readonly logger: Logger;
  /** What the user has hinted of topics. */
  readonly hints: Readonly<Record<string, TopicHints>>;
  /** Whether the consumer reads a topic of this name. */
  readonly isSubscribed: (topic: string) => boolean;
  /** Whether all columns of the event's rows are read. */
  readonly hasWholeRows: (event: CdcEvent) => boolean;
}

/** Every one of the first records is looked at, and then one in so many: a topic's first record may come late. */
const firstRecords = 200;
const everyRecords = 128;
/** Rows of a topic after which its columns are judged. */
const rowsToJudge = 5;
const maxNamed = 8;
/** Topics that health names. The log has all of them. */
const maxReasons = 30;

/** A decoder, and what it has noticed, in words. */
export interface HintWatchingDecoder extends Decoder {
  readonly reasons: () => readonly string[];
}

/**
 * A decoder that reports, once for each topic, which columns look untyped, with the hint to paste. It also reports hinted columns that the
 * rows do not have. It looks at a few records only, so that most records cost no more than a countdown.
 */
export function hintWatchingDecoder(decoder: Decoder, options: HintWatchOptions): HintWatchingDecoder {
  const watch = new HintWatch(options);
  let first = firstRecords;
  let untilLook = 0;
  return {
    reasons: () => watch.reasons,
    decode: (record) => decoder.decode(record),
    explain: (record) => decoder.explain(record),
    decodeAt: (cursor: RecordCursor): readonly CdcEvent[] | Promise<readonly CdcEvent[]> => {
      const events = decoder.decodeAt(cursor);
      if (--untilLook > 0) {
        return events;
      }
      first--;
      untilLook = first > 0 ? 0 : everyRecords;
      if (Array.isArray(events)) {
        watch.look(events as readonly CdcEvent[]); // the type of a promise's counterpart
      }
      return events;
    },
  };
}

class HintWatch {
  readonly #options: HintWatchOptions;
  readonly #untyped: UntypedColumns = new UntypedColumns({ maxRows: rowsToJudge });
  /** Topics of which a whole row was seen. */
  readonly #whole = new Set<string>();
  readonly #judged = new Set<string>();
  readonly #reasons: string[] = [];

  constructor(options: HintWatchOptions) {
    this.#options = options;
    const { hints, isSubscribed, logger } = options;
    const strays = Object.keys(hints).filter((topic) => !isSubscribed(topic));
    if (strays.length > 0) {
      logger.warn({ topics: strays.slice(0, maxNamed) }, "decoder.topics has hints for topics that this consumer does not read");
    }
  }

  get reasons(): readonly string[] {
    return this.#reasons;
  }

  look(events: readonly CdcEvent[]): void {
    for (const event of events) {
      const { topic } = event.record;
      if (this.#untyped.wants(topic)) {
        this.#untyped.add(event);
        if (this.#options.hasWholeRows(event)) {
          this.#whole.add(topic);
        }
      }
      if (!this.#judged.has(topic) && this.#untyped.rowsOf(topic) >= rowsToJudge) {
        this.#judged.add(topic);
        this.#judge(topic);
      }
    }
  }

  #judge(topic: string): void {
    const { logger, hints } = this.#options;
    const hinted = hints[topic]?.columns ?? {};
    const columns = this.#untyped.of(topic).filter(({ name }) => !Object.hasOwn(hinted, name)); // text may look like base64: the hint says so
    if (columns.length > 0) {
      const looks = columns.slice(0, maxNamed).map(({ name, looksLike }) => `${name} (${looksLike})`);
      const text =
        `the values of ${topic} carry no types, and some columns look as if they had one: ${looks.join(", ")}. Name their types in decoder.topics: ` +
        `${hintText(topic, columns)}; cdc-bench hints writes it from a topic, a registry or a database that has the types`;
      logger.warn({ topic, columns: columns.map(({ name }) => name) }, text);
      if (this.#reasons.length < maxReasons) {
        this.#reasons.push(text);
      }
    }
    const names = this.#untyped.namesOf(topic);
    if (!this.#whole.has(topic)) {
      return;
    }
    const missing = Object.keys(hinted).filter((name) => !names.includes(name));
    if (missing.length > 0) {
      logger.warn(
        { topic, columns: missing.slice(0, maxNamed) },
        `decoder.topics has hints for columns of ${topic} that its first rows do not have`,
      );
    }
  }
}

/** To paste. The scale is left open, because bytes do not say it. The option is refused while it holds `"?"`. */
function hintText(topic: string, columns: readonly UntypedColumn[]): string {
  const hinted = columns.map(({ name, hint }) => [name, Object.keys(hint.parameters).length === 0 ? hint.name : hint]);
  return JSON.stringify({ [topic]: { columns: Object.fromEntries(hinted) as object } });
}
