export { loadRecording, readRecording } from "./recording.ts";
export { isRecordingError, RecordingError } from "./recording-error.ts";
export type { RecordingErrorCode, RecordingErrorOptions } from "./recording-error.ts";
export { bundledRecording, bundledRecordings, recordingsFolder } from "./recordings.ts";
export type { BundledRecording } from "./recordings.ts";
