import type { JsonTextDecoder } from "../encoding/connect-json/text-decoder.ts";
import type { Engine } from "./engine.ts";
import type { FrameReader } from "./frame-reader.ts";
import type { SideRoute, SideScope } from "./route.ts";
import type { SchemaReader } from "./schema-reader.ts";
import type { SideResult } from "./side-result.ts";

/** What the candidates of one side share: the readers of the side, which all fill in the same result. */
export interface SideTools {
  readonly engine: Engine;
  readonly scope: SideScope;
  readonly result: SideResult;
  readonly schemas: SchemaReader;
  readonly text: JsonTextDecoder<SideRoute>;
  readonly frames: FrameReader;
}
