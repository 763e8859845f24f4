import { connect as connectPlain, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { BenchError } from "../../bench-error.ts";

const timeoutMs = 5_000;
const defaultPort = 6379;
/** The answers to these commands are one short line each. */
const maxLineChars = 65_536;

/** A connection in RESP, Redis' own protocol, for commands that are answered by one line: they need no client. */
export interface RespConnection {
  /** Resolves when the command is done. Rejects with a sentence. What the server says is not in it: Redis quotes what it was sent, also a password. */
  run(command: readonly string[]): Promise<void>;
  close(): void;
}

/** Connects: by TLS to `rediss:`, with the authorities that Node knows (NODE_EXTRA_CA_CERTS adds some). Sends nothing. */
export async function connectResp(url: URL): Promise<RespConnection> {
  const connection = new LineConnection(url);
  await connection.opened;
  return connection;
}

interface Waiting {
  readonly what: string;
  resolve(): void;
  reject(error: BenchError): void;
}

class LineConnection implements RespConnection {
  readonly opened: Promise<void>;
  readonly #socket: Socket;
  readonly #place: string;
  /** The opening at first, then commands in the order in which they are answered. */
  #waiting: readonly Waiting[] = [];
  #text = "";
  #failure: BenchError | null = null;

  constructor(url: URL) {
    const [host, port] = [url.hostname.replaceAll(/[[\]]/g, ""), Number(url.port || defaultPort)];
    const isTls = url.protocol === "rediss:";
    this.#place = `Redis at ${url.hostname}:${port}`;
    this.opened = this.#wait("connecting");
    // A name is sent with the handshake, so that a proxy finds the server. An address must not be (RFC 6066).
    this.#socket = isTls ? connectTls({ host, port, ...(isIP(host) === 0 && { servername: host }) }) : connectPlain({ host, port });
    this.#socket
      .setNoDelay()
      .setTimeout(timeoutMs)
      // Not earlier: what is written before `secureConnect` may be sent before the certificate has been judged.
      .once(isTls ? "secureConnect" : "connect", () => this.#next()?.resolve())
      .on("timeout", () => this.#waiting.length > 0 && this.#fail("does not answer in time"))
      .on("error", ({ code = "no code" }: NodeJS.ErrnoException) => this.#fail(reasonOf(code)))
      .on("close", () => this.#fail("closed the connection"))
      .on("data", (chunk: Buffer) => this.#read(chunk));
  }

  run(command: readonly string[]): Promise<void> {
    const answered = this.#wait(command[0] ?? "");
    if (this.#failure === null) {
      this.#socket.write(requestText(command));
    }
    return answered;
  }

  close(): void {
    this.#socket.destroy();
  }

  #wait(what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failure === null) {
        this.#waiting = [...this.#waiting, { what, resolve, reject }];
      } else {
        reject(this.#failure);
      }
    });
  }

  #next(): Waiting | undefined {
    const [next, ...others] = this.#waiting;
    this.#waiting = others;
    return next;
  }

  #read(chunk: Buffer): void {
    const lines = (this.#text + chunk.toString()).split("\r\n");
    this.#text = lines.pop() ?? "";
    for (const line of lines) {
      this.#answer(line);
    }
    if (this.#text.length > maxLineChars) {
      this.#fail("does not speak Redis' protocol");
    }
  }

  #answer(line: string): void {
    if (!/^[-+:]/.test(line)) {
      this.#fail("does not speak Redis' protocol");
      return;
    }
    const asked = this.#next();
    if (!line.startsWith("-")) {
      asked?.resolve();
      return;
    }
    const code = /^-([A-Z]+) /.exec(line)?.[1] ?? "no code";
    asked?.reject(new BenchError("connection", `${this.#place} refuses ${asked.what} (${code}): check the login and its rights.`));
  }

  #fail(why: string): void {
    if (this.#failure !== null) {
      return;
    }
    const failure = new BenchError("connection", `${this.#place} ${why}`);
    this.#failure = failure;
    this.#socket.destroy();
    const asked = this.#waiting;
    this.#waiting = [];
    for (const { reject } of asked) {
      reject(failure);
    }
  }
}

function requestText(command: readonly string[]): string {
  return `*${command.length}\r\n${command.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`;
}

function reasonOf(code: string): string {
  return /CERT|SIGNATURE/.test(code)
    ? `shows a certificate that is not trusted (${code}): NODE_EXTRA_CA_CERTS names a file with the authority that signed it`
    : `cannot be reached (${code})`;
}
