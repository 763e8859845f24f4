export { platformatic } from "./platformatic.ts";
export type {
  PlatformaticConnection,
  PlatformaticCredential,
  PlatformaticLogin,
  PlatformaticOptions,
  PlatformaticTuning,
} from "./options.ts";
export { isPlatformaticDriverError, PlatformaticDriverError } from "./errors.ts";
export type { PlatformaticDriverErrorCode, PlatformaticDriverErrorOptions } from "./errors.ts";
