/**
 * The result of the promise. After the given time it rejects with the given error, because a client may wait for ever. When `closed` is
 * aborted, it rejects with the reason of `closed`, because a timer that goes on would keep the process alive.
 */
export async function bounded<T>(work: Promise<T>, deadlineMs: number, late: () => Error, closed?: AbortSignal): Promise<T> {
  let end = (): void => {};
  const over = new Promise<never>((_, reject) => {
    const onClosed = (): void => reject(closed?.reason as Error); // of an AbortController of ours
    const timer = setTimeout(() => reject(late()), deadlineMs);
    closed?.addEventListener("abort", onClosed, { once: true });
    end = () => {
      clearTimeout(timer);
      closed?.removeEventListener("abort", onClosed);
    };
    if (closed?.aborted === true) {
      onClosed();
    }
  });
  try {
    return await Promise.race([work, over]);
  } finally {
    end();
  }
}

/** Resolves when the work resolves, or when the signal is aborted. Rejects if the work rejects before that. */
export function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      signal.removeEventListener("abort", end);
      resolve();
    };
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) {
      end();
    }
    work.then(end, (error: unknown) => {
      signal.removeEventListener("abort", end);
      reject(error as Error);
    });
  });
}

/** Resolves when the work resolves. After the given time it resolves all the same, and `late` is called. Rejects if the work rejects before. */
export async function settledOrLate(work: Promise<unknown>, deadlineMs: number, late: () => void): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      late();
      resolve();
    }, deadlineMs);
  });
  try {
    await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
