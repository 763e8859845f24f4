import { connect as connectPlain, isIP, type Socket } from "node:net";
import { type ConnectionOptions, connect as connectTls } from "node:tls";
import { hostAndPort } from "./broker-address.ts";

const deadlineMs = 3_000;
const webDeadlineMs = 1_500;
const correlationId = 0x63646362;
const illegalSaslState = 34;
/** An answer holds the names of some mechanisms. A larger size means that bytes of another protocol were read as a length. */
const maxAnswerBytes = 4_096;

/** What a broker's listener requires of clients. */
export interface KafkaListener {
  readonly speaks: "kafka";
  readonly tls: boolean;
  /** Whether it ended a TLS connection because of the client's certificate, or because there was none. */
  readonly refusesCertificate: boolean;
  /** The SASL mechanisms that it offers; empty if it requires no login, null if it did not answer. */
  readonly mechanisms: readonly string[] | null;
}

/** What listens at an address: a broker, a web server, a listener that accepts connections and stays silent, or none that answers. */
export type Listener = KafkaListener | { readonly speaks: "http" | "nothing" | "unknown" };

/**
 * Asks a broker what its listener requires, because the client only reports that the connection was closed. The question is a login with an
 * unknown mechanism, and the broker answers with the mechanisms that it offers. No credential is sent.
 */
export async function probeListener(broker: string, tls: ConnectionOptions = {}, closed?: AbortSignal): Promise<Listener> {
  const address = hostAndPort(broker);
  const servername = isIP(address.host) === 0 ? { servername: address.host } : {};
  // The certificate is not verified: no secret is sent, and the answer is used only for a message.
  const options = { ...address, ...servername, ...tls, rejectUnauthorized: false };
  const [plain, secure] = await Promise.all([
    ask((onOpen) => connectPlain(address, onOpen), handshakeRequest(), deadlineMs, closed),
    ask((onOpen) => connectTls(options, onOpen), handshakeRequest(), deadlineMs, closed),
  ]);
  if (plain.mechanisms !== null) {
    return { speaks: "kafka", tls: false, refusesCertificate: false, mechanisms: plain.mechanisms };
  }
  if (plain.isHttp || secure.isHttp) {
    return { speaks: "http" };
  }
  const { isOpen, alert, mechanisms } = secure;
  if (isOpen || alert !== null) {
    return { speaks: "kafka", tls: true, refusesCertificate: alert !== null && mechanisms === null, mechanisms };
  }
  if (!plain.isOpen || !plain.isSilent) {
    return { speaks: "unknown" };
  }
  // Some web servers wait for the end of a line, which Kafka's bytes never have. A broker has answered by now, and is not asked this.
  const web = await ask((onOpen) => connectPlain(address, onOpen), webRequest, webDeadlineMs, closed);
  if (web.isHttp) {
    return { speaks: "http" };
  }
  return { speaks: web.isOpen && web.isSilent ? "nothing" : "unknown" };
}

const webRequest = Buffer.from("HEAD / HTTP/1.0\r\n\r\n");

interface Answer {
  readonly isOpen: boolean;
  /** It accepted the connection, and sent nothing until the time was up. */
  readonly isSilent: boolean;
  readonly isHttp: boolean;
  /** Node's name of the alert that ended a TLS connection. */
  readonly alert: string | null;
  readonly mechanisms: readonly string[] | null;
}

function ask(open: (onOpen: () => void) => Socket, question: Buffer, withinMs: number, closed: AbortSignal | undefined): Promise<Answer> {
  return new Promise((resolve) => {
    let isOpen = false;
    let received: Buffer = Buffer.alloc(0);
    const socket = open(() => {
      isOpen = true;
      socket.write(question);
    });
    const settle = (alert: string | null, isSilent = false): void => {
      clearTimeout(timer);
      closed?.removeEventListener("abort", onClosed);
      socket.destroy();
      resolve({ isOpen, isSilent, isHttp: isHttp(received), alert, mechanisms: mechanismsIn(received) });
    };
    const onClosed = (): void => settle(null);
    const timer = setTimeout(() => settle(null, received.length === 0), withinMs);
    closed?.addEventListener("abort", onClosed, { once: true });
    socket.on("error", ({ code }: NodeJS.ErrnoException) => settle(code?.startsWith("ERR_SSL_") && code.includes("ALERT") ? code : null));
    socket.on("close", () => settle(null));
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.length > maxAnswerBytes || mechanismsIn(received) !== null || isHttp(received)) {
        settle(null);
      }
    });
  });
}

/** A web server, or a proxy in front of one, answers bytes that it does not understand. */
function isHttp(received: Buffer): boolean {
  return received.toString("latin1", 0, 5) === "HTTP/";
}

/** SaslHandshake, version 1, for a mechanism that does not exist. */
function handshakeRequest(): Buffer {
  const name = Buffer.from("cdckit");
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

/** The content of a complete answer, or null while it is incomplete. */
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
    const length = received.readInt16BE(at);
    const end = at + 2 + length;
    if (length < 0 || end > received.length) {
      break; // no answer of a broker
    }
    names.push(received.toString("latin1", at + 2, end));
    at = end;
  }
  return names;
}
