import { BrokerRecords } from "./broker-records.ts";
import { type AskedRecords, askedIn, fetchKey } from "./fetch-request.ts";
import { type FetchedPartition, replaceRecords } from "./fetch-response.ts";
import type { KeptFetches } from "./kept-fetches.ts";

/** The parts of kafkajs' cluster and of its broker clients that are used here. Its types leave them out. */
export interface TappedCluster {
  findBroker(wanted: unknown): Promise<TappedBroker>;
}
interface TappedBroker {
  /** Its host and port. */
  readonly brokerAddress: string;
  readonly connectionPool: { send(exchange: Exchange): Promise<unknown> };
}

/** A request of kafkajs, and how the response to it is read. */
interface Exchange {
  readonly request: { readonly apiKey: number; readonly apiVersion: number; encode(): Promise<{ readonly buffer: Buffer }> };
  readonly response: { decode(payload: Buffer): Promise<unknown> };
}

interface Tap {
  /** The request as it will be sent. It may be changed in place. */
  readonly asked?: (request: AskedRecords) => void;
  /** The response to it. Returns the one that kafkajs decodes. */
  readonly answered: (payload: Buffer, asked: AskedRecords) => Buffer;
}

/**
 * Stands between the broker clients of a cluster and kafkajs' decoder, for a client whose sockets are not the driver's. The record batches of
 * Fetch responses are kept, and kafkajs gets one record for those of each partition. Each consumer of a client has a cluster of its own, so
 * the application's other consumers get their records as before.
 */
export function tapDecoders(cluster: TappedCluster, kept: KeptFetches): void {
  const tapped = new WeakSet<TappedBroker>();
  const findBroker = cluster.findBroker.bind(cluster);
  cluster.findBroker = async (wanted) => {
    const broker = await findBroker(wanted);
    if (!tapped.has(broker)) {
      tapped.add(broker);
      tapDecoder(broker, new BrokerRecords(broker.brokerAddress, kept));
    }
    return broker;
  };
}

function tapDecoder({ connectionPool }: TappedBroker, records: BrokerRecords): void {
  const tap: Tap = {
    asked: (request) => {
      records.forget();
      records.askForBytes(request);
    },
    answered: (payload, asked) => records.take(payload, 0, asked).response,
  };
  const send = connectionPool.send.bind(connectionPool);
  connectionPool.send = (exchange) => send(exchange.request.apiKey === fetchKey ? tapped(exchange, tap) : exchange);
}

const noRecords = Buffer.alloc(0);

/** What a broker sends in answer to one request of kafkajs' `fetch`. */
export async function fetchedFrom<Request>(
  broker: TappedBroker & { fetch(request: Request): Promise<unknown> },
  request: Request,
): Promise<readonly FetchedPartition[]> {
  const fetched: FetchedPartition[] = [];
  const keep = (one: FetchedPartition): Buffer => {
    fetched.push(one);
    return noRecords;
  };
  const { connectionPool } = broker;
  const answered: Tap["answered"] = (payload, asked) => replaceRecords(payload, 0, asked, keep).response;
  const send = (exchange: Exchange): Promise<unknown> => connectionPool.send(tapped(exchange, { answered }));
  // The broker client itself stays as it is, because others may ask it at the same time.
  const tappedPool = { value: Object.create(connectionPool, { send: { value: send } }) as unknown };
  await (Object.create(broker, { connectionPool: tappedPool }) as typeof broker).fetch(request);
  return fetched;
}

function tapped(exchange: Exchange, tap: Tap): Exchange {
  const { request, response } = exchange;
  let asked: AskedRecords | null = null;
  return {
    ...exchange,
    request: {
      ...request,
      encode: async () => {
        const encoded = await request.encode();
        asked = askedIn(encoded.buffer, request.apiVersion);
        tap.asked?.(asked);
        return encoded;
      },
    },
    response: {
      ...response,
      decode: async (payload) => response.decode(asked === null ? payload : tap.answered(payload, asked)), // null: nothing was asked for
    },
  };
}
