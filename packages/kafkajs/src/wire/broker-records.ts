import { type AskedRecords, askForBytes } from "./fetch-request.ts";
import { type FetchedPartition, type HandedOn, replaceRecords } from "./fetch-response.ts";
import { FetchSize } from "./fetch-size.ts";
import type { KeptFetches } from "./kept-fetches.ts";

/** A response without its records, and what was taken out of it. */
export interface Taken extends HandedOn {
  readonly fetched: readonly FetchedPartition[];
}

/** Takes the records out of the responses of one broker. They are kept, and kafkajs gets one record for those of each partition. */
export class BrokerRecords {
  readonly #broker: string;
  readonly #kept: KeptFetches;
  readonly #size: FetchSize;

  /** `broker`: its address, as kafkajs knows it. */
  constructor(broker: string, kept: KeptFetches) {
    this.#broker = broker;
    this.#kept = kept;
    this.#size = new FetchSize(kept.largestMinFetchBytes);
  }

  /** kafkajs asks for more: it is done with what it got. */
  forget(): void {
    this.#kept.forget(this.#broker);
  }

  /** Makes a request ask for as many bytes as bring the wanted number of records, in place. */
  askForBytes(request: AskedRecords): void {
    askForBytes(request, (askedBytes, partitions) => this.#size.ofEachPartition(askedBytes, partitions));
  }

  /** `bodyAt`: see {@link replaceRecords}. */
  take(response: Buffer, bodyAt: number, asked: AskedRecords): Taken {
    const fetched: FetchedPartition[] = [];
    const keep = (one: FetchedPartition): Buffer => {
      fetched.push(one);
      return this.#kept.keep(this.#broker, { ...one, unpackedTo: this.#size.learnerOf(one.bytes.length) }, asked.version);
    };
    const handedOn = replaceRecords(response, bodyAt, asked, keep, (topic) => this.#kept.refused.add(topic));
    this.#size.learnFrom(fetched);
    if (fetched.length === 0 || handedOn.throttleMs === 0) {
      this.#kept.paced(asked.offsets, handedOn.throttleMs);
    }
    return { ...handedOn, fetched };
  }
}
