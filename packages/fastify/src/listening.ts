import type { FastifyInstance } from "fastify";

/**
 * Knows whether the app listens, or is about to. If an app is closed in between, its `listen()` answers nothing any more (Fastify 5), fails in the
 * midst of it, or listens all the same, and the process does not end.
 */
export class Listening {
  readonly #app: FastifyInstance;
  /** Node's own. Each call of `listen()` that is not answered has one more. */
  readonly #listeners: number;
  #hasBegun = false;
  /** Nothing was to be waited for: the app is being closed. */
  #isLate = false;
  #begun: () => void = () => {};

  constructor(app: FastifyInstance) {
    this.#app = app;
    this.#listeners = app.server.listenerCount("listening");
    app.addHook("onListen", async () => {
      this.#hasBegun = true;
      this.#begun();
      if (this.#isLate) {
        app.server.close();
      }
    });
  }

  /** Resolves when the app may be closed: it is ready, and listens if it was to. Never rejects. */
  async settled(): Promise<void> {
    const { server } = this.#app;
    await this.#app.ready().then(nothing, nothing); // whoever starts the app hears of a plugin that fails
    if (!this.#hasBegun && (server.listening || server.listenerCount("listening") > this.#listeners)) {
      await new Promise<void>((resolve) => {
        this.#begun = resolve;
        server.once("error", resolve);
      });
    }
    this.#isLate = true;
  }
}

function nothing(): void {}
