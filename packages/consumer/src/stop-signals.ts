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
  const unlisten = (): void => {
    for (const signal of signals) {
      process.off(signal, listener);
    }
  };
  try {
    for (const signal of signals) {
      process.on(signal, listener);
    }
  } catch (error) {
    unlisten(); // some system lacks one of them
    throw error;
  }
  return unlisten;
}
