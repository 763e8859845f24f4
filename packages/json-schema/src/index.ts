export { jsonSchemaValidator } from "./validator.ts";
