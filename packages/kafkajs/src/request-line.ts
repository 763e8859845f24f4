/** One request after the other; what fails does not hold up the next. */
export class RequestLine {
  #last: Promise<unknown> = Promise.resolve();

  send<T>(request: () => Promise<T>): Promise<T> {
    const answer = this.#last.then(request);
    this.#last = answer.catch(() => {});
    return answer;
  }
}
