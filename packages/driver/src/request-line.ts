/** Runs one request after the other. A failed request does not stop the next one. If none is under way, a request starts in the same turn. */
export class RequestLine {
  #last: Promise<unknown> = Promise.resolve();
  #open = 0;

  /** Starts the request when all earlier ones have ended. Settles as the request does. */
  send<T>(request: () => Promise<T>): Promise<T> {
    const answer = this.#open === 0 ? request() : this.#last.then(request);
    this.#open++;
    const ended = (): void => {
      this.#open--;
    };
    this.#last = answer.then(ended, ended);
    return answer;
  }
}
