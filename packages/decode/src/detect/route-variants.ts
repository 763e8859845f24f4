import type { Framing } from "../framing/framing.ts";
import type { SideRoute } from "./route.ts";

/**
 * Routes that are made from others by what was found of the message's framing. Each is made once: `FastPaths` remembers every route that it has
 * seen, and one more for each record would fill the old generation.
 */
export class RouteVariants {
  readonly #made = new WeakMap<SideRoute, Map<Framing, SideRoute>>();
  readonly #changesFor: (framing: Framing) => Partial<SideRoute>;

  constructor(changesFor: (framing: Framing) => Partial<SideRoute>) {
    this.#changesFor = changesFor;
  }

  /** The variant of a route. The first bytes do not tell which messages have it, so it has no fast path. */
  of(route: SideRoute, framing: Framing): SideRoute {
    let variants = this.#made.get(route);
    if (variants === undefined) {
      variants = new Map();
      this.#made.set(route, variants);
    }
    let variant = variants.get(framing);
    if (variant === undefined) {
      variant = { ...route, fastPath: null, ...this.#changesFor(framing) };
      variants.set(framing, variant);
    }
    return variant;
  }
}
