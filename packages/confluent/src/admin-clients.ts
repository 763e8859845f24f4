import { RequestLine } from "@cdckit/driver";
import { ConfluentDriverError } from "./errors.ts";
import { answerOf, type Answer, type ClientError, codes, type LowLevelAdmin } from "./low-level-client.ts";

interface Asked {
  readonly admin: LowLevelAdmin;
  questions: number;
}

/**
 * Asks by librdkafka's administrative client. Such a client keeps the leaders and the controller that it was told of: if one of them is down, each
 * later question goes there again, and nobody answers (seen with 2.15.1, for as long as the broker was down). So a client whose question was not
 * answered in time is replaced. The next one is told who leads now.
 *
 * The client answers one question after the other. Each that waits for its turn there holds a thread of libuv, and a process that exits waits for all
 * of them, for as long as each may take. So they wait here, where a question that nobody wants any more is not asked.
 */
export class AdminClients {
  readonly #make: () => LowLevelAdmin;
  readonly #line: RequestLine = new RequestLine();
  #current: Asked | undefined;

  constructor(make: () => LowLevelAdmin) {
    this.#make = make;
  }

  /** `unwanted`: if it is aborted before the question is asked, the question ends with an error. */
  ask<T>(question: (admin: LowLevelAdmin, done: Answer<T>) => void, unwanted?: AbortSignal): Promise<T> {
    return this.#line.send(async () => {
      if (unwanted?.aborted === true) {
        throw new ConfluentDriverError("brokers-unreachable", "the question before this one was not answered in time");
      }
      return this.#ask(question);
    });
  }

  async #ask<T>(question: (admin: LowLevelAdmin, done: Answer<T>) => void): Promise<T> {
    this.#current ??= { admin: this.#make(), questions: 0 };
    const asked = this.#current;
    asked.questions++;
    try {
      return await answerOf<T>((done) => question(asked.admin, done));
    } catch (error) {
      if ((error as Partial<ClientError>).code === codes.timedOut && this.#current === asked) {
        this.replace();
      }
      throw error;
    } finally {
      asked.questions--;
      if (asked.questions === 0 && this.#current !== asked) {
        asked.admin.disconnect();
      }
    }
  }

  /** The next question goes to another client. This one ends with its last question: it must not be destroyed while one uses it. */
  replace(): void {
    if (this.#current?.questions === 0) {
      this.#current.admin.disconnect();
    }
    this.#current = undefined;
  }
}
