import type { Frame, Framing, Payload } from "../framing/framing.ts";
import type { Failures } from "./pending.ts";
import { rawRoute } from "./route.ts";
import { RouteVariants } from "./route-variants.ts";
import type { NamedSchema } from "./schema-reader.ts";
import type { SideTools } from "./side-tools.ts";
import { SeveralValues, type SideResult } from "./side-result.ts";

/** Reads the payload of a frame: one value, or all values that it holds. */
export class FrameReader {
  readonly #side: Omit<SideTools, "frames">;
  readonly #framedRoutes = new RouteVariants(({ name }) => ({ framing: name }));

  constructor(side: Omit<SideTools, "frames">) {
    this.#side = side;
  }

  read(framing: Framing, frame: Frame, failed: Failures | null): SideResult {
    const { result } = this.#side;
    const { payloads } = frame;
    const [first] = payloads;
    if (first === undefined) {
      result.route = this.#routeOfNothing(framing, frame); // a container file without records
    } else if (payloads.length === 1 && first.count === 1) {
      return this.#readPayload(framing, frame, { payload: first, failed });
    }
    const values: unknown[] = [];
    for (const payload of payloads) {
      if (this.#readPayload(framing, frame, { payload, failed }).pending !== null) {
        return result;
      }
      const value = result.take();
      values.push(...(payload.count === 1 ? [value] : (value as readonly unknown[])));
    }
    const byteLength = payloads.reduce((sum, { start, end }) => sum + end - start, 0);
    return result.several(new SeveralValues(values, byteLength));
  }

  #readPayload(framing: Framing, frame: Frame, { payload, failed }: { payload: Payload; failed: Failures | null }): SideResult {
    const { schemas, text, result } = this.#side;
    const { schemaId, schema, encoding, message, choices } = frame;
    const id = schema?.id ?? schemaId;
    if (id !== null) {
      const named: NamedSchema = { framing, id, schema, encoding, message, choices };
      return schemas.read(named, payload, failed);
    }
    text.read(payload.bytes, payload.start, payload.end);
    result.route = this.#framedRoutes.of(result.route, framing);
    return result;
  }

  #routeOfNothing({ name }: Framing, { schema, encoding }: Frame): SideResult["route"] {
    const { engine } = this.#side;
    const of =
      schema === undefined ? (encoding ?? engine.formats.raw.bytes.name) : engine.schemaEncoding(schema.schemaType, undefined).name;
    return rawRoute(engine, of, name);
  }
}
