import { Socket } from "node:net";
import type { Terminal } from "../terminal.ts";

/** Names the file descriptor on which a command hears from the program that started it, such as the page of `ui`. */
export const controlFdVariable = "CDC_BENCH_CONTROL_FD";

/** One line on the pipe: JSON. */
export interface ControlMessage {
  readonly kind: "record";
  /** Whether a CPU profile is to be recorded from now on. */
  readonly isOn: boolean;
}

/** What a command does when it hears something. */
export interface Controlled {
  /** The program that started the command is gone: nobody waits for the result. Called once at most. */
  onGone(): void;
  onMessage(message: ControlMessage): void;
}

/** Listens if the environment names a pipe. Does not keep the process alive. */
export function listenToControl(env: Terminal["env"], { onGone, onMessage }: Controlled): void {
  const fd = env[controlFdVariable];
  if (fd === undefined || !/^\d{1,3}$/.test(fd)) {
    return;
  }
  let socket: Socket;
  try {
    socket = new Socket({ fd: Number(fd), readable: true, writable: false });
  } catch {
    return; // a variable that another process left in our environment: there is no such pipe here
  }
  socket.unref();
  socket.on("error", () => socket.destroy());
  socket.once("end", onGone);
  let held = "";
  socket.setEncoding("utf8").on("data", (text: string) => {
    const lines = (held + text).split("\n");
    held = lines.pop() ?? "";
    lines.map(parse).forEach((message) => message !== null && onMessage(message));
  });
}

function parse(line: string): ControlMessage | null {
  try {
    const message = Object(JSON.parse(line)) as Partial<ControlMessage>;
    return message.kind === "record" && typeof message.isOn === "boolean" ? { kind: "record", isOn: message.isOn } : null;
  } catch {
    return null;
  }
}
