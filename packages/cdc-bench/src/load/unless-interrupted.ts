/** The work's result. Rejects with the reason of the interrupt if that comes first: the work goes on, and nobody waits for it. */
export async function unlessInterrupted<T>(work: Promise<T>, interrupt: AbortSignal): Promise<T> {
  const over = new AbortController(); // a signal that many wait for would gather listeners
  const interrupted = new Promise<never>((_, reject) => {
    const leave = (): void => reject(interrupt.reason);
    interrupt.addEventListener("abort", leave, { once: true, signal: over.signal });
    if (interrupt.aborted) {
      leave();
    }
  });
  try {
    return await Promise.race([interrupted, work]);
  } finally {
    over.abort();
  }
}
