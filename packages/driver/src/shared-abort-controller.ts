import { setMaxListeners } from "node:events";

/** An abort controller that any number of waits may end with. With another one, Node prints a warning when the eleventh of them listens. */
export function sharedAbortController(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
