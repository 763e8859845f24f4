import { connect, type Socket } from "node:net";
import { BenchError } from "../../bench-error.ts";
import type { Thing } from "../thing.ts";
import { withoutLogin } from "../thing.ts";

const timeoutMs = 5_000;

/**
 * Deletes a key in Redis' own protocol: three commands need no client.
 * @param access used for the Redis that it names, and for no other
 */
export async function removeRedisKey({ name, at }: Thing, access: string | undefined): Promise<void> {
  const url = new URL(access !== undefined && withoutLogin(access) === at ? access : at);
  const password = decodeURIComponent(url.password);
  const user = decodeURIComponent(url.username);
  const commands = [
    ...(password === "" ? [] : [user === "" ? ["AUTH", password] : ["AUTH", user, password]]),
    ["SELECT", url.pathname.slice(1) || "0"],
    ["DEL", name],
  ];
  const answers = await exchange(url, commands.map(requestText).join(""), commands.length);
  const refusal = answers.find((answer) => answer.startsWith("-"));
  if (refusal !== undefined) {
    throw new BenchError("connection", `Redis refuses: ${refusal.slice(1)}`);
  }
}

function requestText(command: readonly string[]): string {
  return `*${command.length}\r\n${command.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join("")}`;
}

/** Each of these commands is answered by one line. */
function exchange({ hostname, port }: URL, request: string, answers: number): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ host: hostname.replaceAll(/[[\]]/g, ""), port: Number(port || 6379), timeout: timeoutMs });
    const fail = (why: string): void => {
      socket.destroy();
      reject(new BenchError("connection", `Redis at ${hostname}:${port || 6379} ${why}`));
    };
    let text = "";
    socket.once("connect", () => socket.write(request));
    socket.once("timeout", () => fail("does not answer in time"));
    socket.once("error", (error: NodeJS.ErrnoException) => fail(`cannot be reached (${error.code})`));
    socket.once("close", () => fail("closed the connection"));
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const lines = text.split("\r\n").slice(0, -1);
      if (lines.length >= answers) {
        socket.removeAllListeners("close").destroy();
        resolve(lines);
      }
    });
  });
}
