import { type ChildProcess, fork } from "node:child_process";
import { BenchError, sentenceOf } from "../../bench-error.ts";
import { programFile } from "../../package-root.ts";
import type { FromMember, MemberEnd, MemberProgress, MemberSetup, ToMember } from "./member-messages.ts";

export interface MemberProcessParts {
  readonly setup: MemberSetup;
  /** From 1 on. */
  readonly number: number;
  readonly changed: () => void;
  /** It has more or fewer partitions than before. */
  readonly reassigned: () => void;
  readonly committed: (offsets: Extract<FromMember, { readonly kind: "committed" }>["offsets"]) => void;
}

/** How long a process may take to leave its group before it is killed. */
const endDeadlineMs = 20_000;

/** One member of the group, in a process of its own. It ends with this process, whatever ends that. */
export class MemberProcess {
  readonly number: number;
  /** Rejects with what it failed with. */
  readonly ended: Promise<MemberEnd>;
  /** Null until it has joined the group. One that joined may have none. */
  partitions: number | null = null;
  progress: MemberProgress | null = null;
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;

  constructor({ setup, number, changed, reassigned, committed }: MemberProcessParts) {
    this.number = number;
    this.#child = fork(programFile("group-member"), {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      serialization: "advanced",
    });
    this.#exited = new Promise((resolve) => this.#child.once("exit", () => resolve()));
    this.ended = new Promise((resolve, reject) => {
      this.#child.once("error", reject);
      this.#child.once("exit", (code, signal) =>
        reject(new BenchError("connection", `process ${number} ended with ${signal ?? code} before it had its result.`)),
      );
      this.#child.on("message", (message: FromMember) => {
        switch (message.kind) {
          case "assigned":
            // The last one to join may be heard before those that had joined already say again how many they have.
            if (this.partitions !== message.partitions) {
              this.partitions = message.partitions;
              reassigned();
            }
            break;
          case "progress":
            this.progress = message.progress;
            break;
          case "committed":
            committed(message.offsets);
            break;
          case "ended":
            resolve(message.end);
            break;
          case "failed":
            reject(new BenchError("connection", `process ${number}: ${sentenceOf(message.detail)}`));
        }
        changed();
      });
    });
    this.ended.catch(() => {}); // whoever waits for it is told
    this.tell({ kind: "join", setup });
  }

  tell(message: ToMember): void {
    if (this.#child.connected) {
      this.#child.send(message);
    }
  }

  /** Resolves when the process is gone. */
  async close(): Promise<void> {
    this.tell({ kind: "stop" });
    const kill = setTimeout(() => this.#child.kill("SIGKILL"), endDeadlineMs);
    await this.#exited;
    clearTimeout(kill);
  }
}
