import type { Socket } from "node:net";

/**
 * The part of @platformatic/kafka that the driver uses, in types of our own: those of its versions 1 and 2 differ, and this package must
 * compile without the client. All of it is exported by the client's main module: connections, `createAPI`, and the protocol's requests,
 * each under its name and version (`joinGroupV9`).
 */

/** Reads a response. `buffer` are its bytes, perhaps in several parts. */
export interface ResponseReader {
  readonly buffer: { readonly length: number; slice(start: number, end: number): Buffer };
  position: number;
  skip(length: number): unknown;
  readInt8(): number;
  readInt16(): number;
  readInt32(): number;
  readInt64(): bigint;
  readUnsignedVarInt(): number;
  readUUID(): string;
  readString(): string;
}

/** One connection to a broker. */
export interface ClientConnection {
  readonly socket: Socket | undefined;
  connect(host: string, port: number): Promise<void>;
  /** Called by the client itself, when a login is about to run out. */
  reauthenticate: () => void;
  close(): Promise<void>;
  on(event: "error" | "close", listener: (error?: Error) => void): unknown;
}

/** One version of a request. */
export interface ClientApi {
  async(connection: ClientConnection, ...values: readonly unknown[]): Promise<unknown>;
}

type ParseResponse<T> = (correlationId: number, apiKey: number, apiVersion: number, reader: ResponseReader) => T;

/** A login, in the client's form. */
export interface ClientLogin {
  readonly mechanism: string;
  readonly username?: unknown;
  readonly password?: unknown;
  readonly token?: unknown;
  /** Called with what the broker has answered to the login. */
  readonly authBytesValidator?: (answer: Buffer, done: (error: Error | null, answer: Buffer) => void) => void;
}

export interface ClientConnectionOptions {
  readonly connectTimeout: number;
  readonly requestTimeout: number;
  readonly maxInflights: number;
  readonly tls?: object;
  readonly tlsServerName?: boolean;
  readonly sasl?: ClientLogin;
}

/** The module, as it is loaded. Requests are found in it by their names. */
export interface PlatformaticModule extends Readonly<Record<string, unknown>> {
  readonly Connection: new (clientId: string, options: ClientConnectionOptions) => ClientConnection;
  readonly createAPI: <T>(
    apiKey: number,
    apiVersion: number,
    createRequest: (...values: never[]) => unknown,
    parseResponse: ParseResponse<T>,
  ) => { async(connection: ClientConnection, ...values: readonly unknown[]): Promise<T> };
  readonly murmur2: (data: Buffer) => number;
  readonly protocolErrorsCodesById: Readonly<Record<number, string>>;
}

/** An error of the client. One of a response has an error for each code in it. */
export interface ClientError extends Error {
  readonly code?: string;
  readonly apiCode?: number;
  readonly errors?: readonly unknown[];
  readonly response?: unknown;
}

/** Codes of Kafka that the driver tells apart. */
export const codes = {
  offsetOutOfRange: 1,
  unknownTopicOrPartition: 3,
  leaderNotAvailable: 5,
  notLeader: 6,
  requestTimedOut: 7,
  replicaNotAvailable: 9,
  coordinatorLoading: 14,
  coordinatorNotAvailable: 15,
  notCoordinator: 16,
  notEnoughReplicas: 19,
  notEnoughReplicasAfterAppend: 20,
  illegalGeneration: 22,
  unknownMember: 25,
  rebalanceInProgress: 27,
  topicAuthorization: 29,
  groupAuthorization: 30,
  illegalSaslState: 34,
  unsupportedVersion: 35,
  topicExists: 36,
  notController: 41,
  duplicateSequence: 46,
  invalidProducerEpoch: 47,
  concurrentTransactions: 51,
  operationNotAttempted: 55,
  kafkaStorage: 56,
  groupIdNotFound: 69,
  fencedLeaderEpoch: 74,
  unknownLeaderEpoch: 76,
  offsetNotAvailable: 78,
  memberIdRequired: 79,
  fencedInstance: 82,
  unstableOffsets: 88,
  producerFenced: 90,
  unknownTopicId: 100,
  inconsistentTopicId: 103,
  fencedMemberEpoch: 110,
  unreleasedInstance: 111,
  staleMemberEpoch: 113,
} as const;

/** Kafka's codes in an error of the client. Empty if no broker has answered with one. */
export function codesOf(error: unknown): readonly number[] {
  const { apiCode, errors = [] } = (error ?? {}) as ClientError;
  return [...(apiCode === undefined ? [] : [apiCode]), ...errors.flatMap((inner) => codesOf(inner))];
}

/** Whether one of these is among Kafka's codes in an error of the client. */
export function hasCodeOf(error: unknown, wanted: ReadonlySet<number>): boolean {
  return codesOf(error).some((code) => wanted.has(code));
}

/** Kafka's name of a code, as far as the client knows it: `KAFKA_STORAGE_ERROR`. */
export function errorName({ protocolErrorsCodesById }: Pick<PlatformaticModule, "protocolErrorsCodesById">, code: number): string {
  return protocolErrorsCodesById[code] ?? `Kafka's error ${code}`;
}

/** What a broker has answered beside error codes; undefined if none has answered. */
export function responseOf<T>(error: unknown): T | undefined {
  return ((error ?? {}) as ClientError).response as T | undefined;
}

/** Whether a broker has answered, although with an error. */
export function isAnswer(error: unknown): boolean {
  return codesOf(error).length > 0 || responseOf(error) !== undefined;
}
