/**
 * Keeps one warning off stderr: kafkajs asks for a timer in the past on every connection, which Node 24 remarks upon
 * (https://github.com/tulios/kafkajs/issues/1751). Nothing is wrong, and nobody can do anything about it. Only for a process of our own.
 */
export function hideNegativeTimeouts(): void {
  const emitWarning = process.emitWarning as (...args: readonly unknown[]) => void;
  process.emitWarning = (...args: readonly unknown[]): void => {
    if (args[1] !== "TimeoutNegativeWarning") {
      emitWarning.apply(process, [...args]);
    }
  };
}
