/** A promise that others settle; what comes after the first is not heard. */
export interface OpenOutcome<T> {
  readonly outcome: Promise<T>;
  readonly settle: (value: T) => void;
  readonly fail: (error: Error) => void;
}

export function openOutcome<T>(): OpenOutcome<T> {
  let settle: (value: T) => void = () => {};
  let fail: (error: Error) => void = () => {};
  const outcome = new Promise<T>((resolve, reject) => {
    settle = resolve;
    fail = reject;
  });
  outcome.catch(() => {}); // it is raced, and what it races may end first
  return { outcome, settle, fail };
}
