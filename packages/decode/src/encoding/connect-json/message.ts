import { isJsonObject } from "../json/parse.ts";
import { hasConnectType, isConnectSchema } from "./schema.ts";

/** A connect-json message with both halves parsed. */
export interface ConnectMessage {
  readonly schema: Record<string, unknown> | null;
  readonly payload: unknown;
}

/** Whether a value has exactly the two fields of JsonConverter and a Connect schema. A user's own columns with those names do not count. */
export function isConnectMessage(value: unknown): value is ConnectMessage {
  return isHalved(value) && (value["schema"] === null || (isConnectSchema(value["schema"]) && hasConnectType(value["schema"])));
}

/** Whether a row has exactly the columns schema and payload. */
export function isHalved(value: unknown): value is Record<string, unknown> {
  return isJsonObject(value) && Object.hasOwn(value, "schema") && Object.hasOwn(value, "payload") && Object.keys(value).length === 2;
}
