import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { programFile } from "../../package-root.ts";

export type ServerRequest =
  | { readonly kind: "serve"; readonly suite: string; readonly rows: number; readonly seed: number; readonly maxBytes: number }
  | { readonly kind: "count" }
  | { readonly kind: "counted" };

export type ServerAnswer =
  | { readonly kind: "serving"; readonly port: number }
  | { readonly kind: "counting" }
  | { readonly kind: "counted"; readonly bytes: number };

/** The API that is measured if the user names none. Listens on 127.0.0.1 alone. */
export interface OwnApi {
  readonly port: number;
  /** What its process allocates until {@link OwnApi.counted} is asked, in bytes. */
  count(): Promise<void>;
  counted(): Promise<number>;
  close(): Promise<void>;
}

/** Starts the API in a process of its own, which ends with this one, whatever ends it. */
export async function startOwnApi(serve: Omit<Extract<ServerRequest, { readonly kind: "serve" }>, "kind">): Promise<OwnApi> {
  const child = fork(programFile("server-process"), { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  try {
    const answer = await ask(child, { kind: "serve", ...serve });
    if (answer.kind !== "serving") {
      throw new Error(`the API's process answered ${answer.kind}`);
    }
    return {
      port: answer.port,
      count: async () => void (await ask(child, { kind: "count" })),
      counted: async () => {
        const counted = await ask(child, { kind: "counted" });
        return counted.kind === "counted" ? counted.bytes : 0;
      },
      close: () => end(child),
    };
  } catch (error) {
    await end(child);
    throw error;
  }
}

function ask(child: ChildProcess, request: ServerRequest): Promise<ServerAnswer> {
  return new Promise((resolve, reject) => {
    const gone = (): void => reject(new Error("the API's process has ended"));
    child.once("exit", gone);
    child.once("message", (answer) => {
      child.off("exit", gone);
      resolve(answer as ServerAnswer);
    });
    child.send(request, (error) => {
      if (error !== null) {
        reject(error);
      }
    });
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
