import { styleOf } from "../report/text-style.ts";
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

/** A view that is redrawn in place if stderr is a terminal, and a plain line every few seconds if it is not. */
export function createTerminalObserver(terminal: Terminal, now: () => number = performance.now.bind(performance)): Observer {
  return terminal.liveLine ? createLiveObserver(terminal, now) : createPlainObserver(terminal, now);
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
      screen.stream.write(`${text}\n`);
    },
    end() {
      clearInterval(timer);
      timer = undefined;
      latest = undefined;
      screen.clear();
    },
  };
}

function createPlainObserver({ stderr }: Terminal, now: () => number): Observer {
  const paceOf = createPaceMeter(now());
  let shownAtMs = now();
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
    note: (text) => void stderr.write(`${text}\n`),
    end() {},
  };
}
