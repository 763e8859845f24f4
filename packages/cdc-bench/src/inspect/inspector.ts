import { deadLetterOf } from "@cdckit/consumer";
import { type Candidate, type CdcEvent, type Decoder, isDecodeError, type KafkaRecord } from "@cdckit/decode";
import { isRegistryAtFault } from "../registry-fault.ts";
import { deadLetterFields } from "./dead-letter-text.ts";
import { shownHeaders } from "./header-text.ts";
import { type DecodeFailure, eventLine, failureLine, silenceLine } from "./inspect-line.ts";
import { type EventFilter, isEmptyFilter, matchesEvent } from "./event-filter.ts";
import type { Mask } from "./mask.ts";
import { matchesRecord, type RecordFilter } from "./record-filter.ts";

/** What is looked at, and how it is shown. */
export interface InspectorOptions {
  readonly records: RecordFilter;
  readonly events: EventFilter;
  readonly mask: Mask;
  readonly hasHeaders: boolean;
  readonly isExplained: boolean;
}

/** What became of one record. */
export interface Inspected {
  readonly record: KafkaRecord;
  /** Those that the filters let through. */
  readonly events: readonly CdcEvent[];
  /** The lines of `--json`, made here because making them reads every part of the events. */
  readonly lines: readonly string[];
  readonly failure: DecodeFailure | null;
  readonly candidates: readonly Candidate[];
  /** False for a record that cannot be decoded if events are filtered: it counts as an error, and nobody knows whether it is meant. */
  readonly isShown: boolean;
}

export interface Inspector {
  /** Null if the filters leave the record out. */
  look(record: KafkaRecord): Promise<Inspected | null>;
}

export function createInspector(decoder: Decoder, options: InspectorOptions): Inspector {
  const { records, events: filter, mask, isExplained } = options;
  const isFiltered = !isEmptyFilter(filter);
  return {
    async look(record) {
      if (!matchesRecord(records, record)) {
        return null;
      }
      const candidates = isExplained ? (await decoder.explain(record)).candidates : [];
      const more = moreOf(record, candidates, options);
      try {
        const events = await decoder.decode(record);
        const matching = isFiltered ? events.filter((event) => matchesEvent(filter, event)) : events;
        if (isFiltered && matching.length === 0) {
          return null;
        }
        const lines = matching.map((event) => eventLine(event, more, mask));
        if (isExplained && events.length === 0) {
          lines.push(silenceLine(record, more));
        }
        return { record, events: matching, lines, failure: null, candidates, isShown: true };
      } catch (error) {
        // Without a way to its schema no record is looked at: that is no news about the records.
        if (!isDecodeError(error) || isRegistryAtFault(error)) {
          throw error;
        }
        const failure = { code: error.code, message: error.message };
        return { record, events: [], lines: [failureLine(record, failure, more)], failure, candidates, isShown: !isFiltered };
      }
    },
  };
}

/** What flags add to a line of `--json`. */
function moreOf(
  record: KafkaRecord,
  candidates: readonly Candidate[],
  { hasHeaders, isExplained, mask }: InspectorOptions,
): Readonly<Record<string, unknown>> {
  const explain = isExplained ? { explain: candidates } : {};
  if (!hasHeaders) {
    return explain;
  }
  const origin = deadLetterOf(record);
  const deadLetter = origin === null ? null : deadLetterFields(origin, mask);
  return { timestamp: record.timestamp, headers: shownHeaders(record.headers, mask), deadLetter, ...explain };
}
