/** What functions of the user's answer. JavaScript lets them answer anything, and a wrong answer would fail later, far from its cause. */

/** Whether it is a promise. Its rejection is listened for then: nobody else would, and that ends a process. */
export function isPromise(answer: unknown): boolean {
  const isThenable = typeof answer === "object" && answer !== null && "then" in answer && typeof answer.then === "function";
  if (isThenable) {
    Promise.resolve(answer).catch(() => {}); // whoever asks reports the promise as wrong
  }
  return isThenable;
}

/** The error of a function that has answered something else than is expected of it. */
export function wrongAnswer(name: string, expected: string, answer: unknown): TypeError {
  return new TypeError(`${name} must ${expected}; it returned ${textOf(answer)}`);
}

function textOf(answer: unknown): string {
  if (isPromise(answer)) {
    return "a promise, which nobody would await";
  }
  return answer === undefined || typeof answer === "boolean" ? `${answer}` : `a value of type ${typeof answer}`;
}
