import { styleOf } from "../report/text-style.ts";
import { printable } from "../report/text-width.ts";
import type { LiveScreen, Terminal } from "../terminal.ts";
import { createLiveScreen } from "./live-screen.ts";
import type { Observation, Observer } from "./observer.ts";
import { createPaceMeter } from "./pace.ts";
import { plainLine, viewLines } from "./view.ts";

const liveIntervalMs = 100;
/** How often the view is redrawn while nothing is observed: its clock goes on. */
const idleIntervalMs = 1_000;
const plainIntervalMs = 5_000;
/** How often the pace is followed between two plain lines. */
const plainLookMs = 500;

export interface ObserverOptions {
  /** Of a command whose results begin at once: a plain line comes only after a while. @default false */
  readonly isQuietAtFirst?: boolean;
}

/**
 * A view that is redrawn in place if stderr is a terminal. If it is not, a plain line at once, so that nobody wonders whether the command
 * has begun, and then one every few seconds.
 */
export function createTerminalObserver(
  terminal: Terminal,
  { isQuietAtFirst = false }: ObserverOptions = {},
  now: () => number = performance.now.bind(performance),
): Observer {
  return terminal.liveLine ? createLiveObserver(terminal, now) : createPlainObserver(terminal, isQuietAtFirst, now);
}

function createLiveObserver(terminal: Terminal, now: () => number): Observer {
  const screen: LiveScreen = terminal.live ?? createLiveScreen(terminal.stderr);
  const style = styleOf(terminal.env, true);
  const paceOf = createPaceMeter(now());
  let drawnAtMs = Number.NEGATIVE_INFINITY;
  let latest: Observation | undefined;
  let timer: NodeJS.Timeout | undefined;

  const draw = (observation: Observation): void => {
    drawnAtMs = now();
    latest = observation;
    screen.draw(viewLines(observation, paceOf(observation, drawnAtMs), screen.size, style));
  };
  const redraw = (): void => {
    if (latest !== undefined && now() - drawnAtMs >= idleIntervalMs) {
      draw(latest);
    }
  };
  return {
    observe(observation) {
      if (now() - drawnAtMs < liveIntervalMs) {
        return;
      }
      draw(observation());
      timer ??= setInterval(redraw, idleIntervalMs).unref();
    },
    note(text) {
      screen.stream.write(`${printable(text)}\n`);
    },
    end() {
      clearInterval(timer);
      timer = undefined;
      latest = undefined;
      screen.clear();
    },
  };
}

function createPlainObserver({ stderr }: Terminal, isQuietAtFirst: boolean, now: () => number): Observer {
  const paceOf = createPaceMeter(now());
  let shownAtMs = isQuietAtFirst ? now() : Number.NEGATIVE_INFINITY;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  return {
    observe(observation) {
      const atMs = now();
      if (atMs - lookedAtMs < plainLookMs) {
        return;
      }
      lookedAtMs = atMs;
      const observed = observation();
      const pace = paceOf(observed, atMs);
      if (atMs - shownAtMs >= plainIntervalMs) {
        shownAtMs = atMs;
        stderr.write(`${plainLine(observed, pace)}\n`);
      }
    },
    note: (text) => void stderr.write(`${printable(text)}\n`),
    end() {},
  };
}
