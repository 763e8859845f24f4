import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { TlsSettings } from "./connection.ts";

const deadlineMs = 3_000;
const correlationId = 0x63646362;
const illegalSaslState = 34;
/** An answer is some mechanisms' names. What is longer is no answer of Kafka's, but bytes of another protocol read as a length. */
const longestAnswer = 4_096;

/** What a listener of a broker wants of those who connect. */
export interface Listener {
  readonly tls: boolean;
  /** Whether it ended a TLS connection because of the certificate that was shown, or for want of one. */
  readonly refusesCertificate: boolean;
  /** The SASL mechanisms that it offers; empty where it wants no login, null where it did not say. */
  readonly mechanisms: readonly string[] | null;
}

/**
 * Asks a broker what its listener wants, for the client only says that the connection was closed. It is asked for a login that no broker
 * has, and names those that it has. No credential is sent. Null where nothing there speaks Kafka.
 */
export async function probeListener(broker: string, tls: TlsSettings = {}): Promise<Listener | null> {
  const address = addressOf(broker);
  const plain = await ask((onOpen) => connectPlain(address, onOpen));
  if (plain.mechanisms !== null) {
    return { tls: false, refusesCertificate: false, mechanisms: plain.mechanisms };
  }
  const servername = isIP(address.host) === 0 ? { servername: address.host } : {};
  // Whom it is that we talk to does not matter: nothing is told, and what is heard only makes a sentence.
  const options = { ...address, ...servername, ...tls, rejectUnauthorized: false };
  const { isOpen, alert, mechanisms } = await ask((onOpen) => connectTls(options, onOpen));
  return isOpen || alert !== null ? { tls: true, refusesCertificate: alert !== null && mechanisms === null, mechanisms } : null;
}

interface Answer {
  readonly isOpen: boolean;
  /** The alert that ended a TLS connection, as Node names it. */
  readonly alert: string | null;
  readonly mechanisms: readonly string[] | null;
}

function ask(open: (onOpen: () => void) => Socket): Promise<Answer> {
  return new Promise((resolve) => {
    let isOpen = false;
    let received: Buffer = Buffer.alloc(0);
    const socket = open(() => {
      isOpen = true;
      socket.write(handshakeRequest());
    });
    const settle = (alert: string | null): void => {
      socket.destroy();
      resolve({ isOpen, alert, mechanisms: mechanismsIn(received) });
    };
    socket.setTimeout(deadlineMs, () => settle(null));
    socket.on("error", ({ code }: NodeJS.ErrnoException) => settle(code?.startsWith("ERR_SSL_") && code.includes("ALERT") ? code : null));
    socket.on("close", () => settle(null));
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.length > longestAnswer || mechanismsIn(received) !== null) {
        settle(null);
      }
    });
  });
}

/** SaslHandshake, version 1, for a mechanism that does not exist. */
function handshakeRequest(): Buffer {
  const name = Buffer.from("cdc-bench");
  const head = Buffer.alloc(8);
  head.writeInt16BE(17, 0);
  head.writeInt16BE(1, 2);
  head.writeInt32BE(correlationId, 4);
  const text = Buffer.concat([int16(name.length), name]);
  const body = Buffer.concat([head, text, text]); // the client's name, and the mechanism's
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length, 0);
  return Buffer.concat([length, body]);
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value, 0);
  return bytes;
}

/** What a whole answer says, or null while it is none. */
function mechanismsIn(received: Buffer): readonly string[] | null {
  if (received.length < 14 || received.readInt32BE(0) > received.length - 4 || received.readInt32BE(4) !== correlationId) {
    return null;
  }
  if (received.readInt16BE(8) === illegalSaslState) {
    return [];
  }
  const names: string[] = [];
  let at = 14;
  for (let left = received.readInt32BE(10); left > 0 && at + 2 <= received.length; left--) {
    const end = at + 2 + received.readInt16BE(at);
    names.push(received.toString("latin1", at + 2, end));
    at = end;
  }
  return names;
}

function addressOf(broker: string): { readonly host: string; readonly port: number } {
  const colon = broker.lastIndexOf(":");
  return { host: broker.slice(0, colon).replace(/^\[(.*)\]$/, "$1"), port: Number(broker.slice(colon + 1)) };
}
