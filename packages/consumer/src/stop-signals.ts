/**
 * Calls `first` at the first of these signals and `again` at every later one, until the returned function is called. Until then the signals
 * do not end the process.
 */
export function onStopSignals(signals: readonly NodeJS.Signals[], first: () => void, again: () => void): () => void {
  let seen = false;
  const listener = (): void => {
    if (seen) {
      again();
    } else {
      seen = true;
      first();
    }
  };
  for (const signal of signals) {
    process.on(signal, listener);
  }
  return () => {
    for (const signal of signals) {
      process.off(signal, listener);
    }
  };
}
