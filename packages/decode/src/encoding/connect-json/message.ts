import { isJsonObject } from "../json/parse.ts";
import { hasConnectType, isConnectSchema } from "./schema.ts";

/** A connect-json message whose two halves were parsed. */
export interface ConnectMessage {
  readonly schema: Record<string, unknown> | null;
  readonly payload: unknown;
}

/** Exactly the two fields of JsonConverter, and a schema that is one: a user's own columns of those names are no envelope. */
export function isConnectMessage(value: unknown): value is ConnectMessage {
  return isHalved(value) && (value["schema"] === null || (isConnectSchema(value["schema"]) && hasConnectType(value["schema"])));
}

/** Whether a row has just the columns schema and payload. */
export function isHalved(value: unknown): value is Record<string, unknown> {
  return isJsonObject(value) && Object.hasOwn(value, "schema") && Object.hasOwn(value, "payload") && Object.keys(value).length === 2;
}
