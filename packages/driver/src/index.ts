// The port's side: what a session is made of.
export { Assignments, isRead } from "./assignments.ts";
export type { AssignmentParts, HeldPartition, OwnAssignment } from "./assignments.ts";
export { PartitionStarter } from "./partition-starter.ts";
export type { PartitionStarterParts } from "./partition-starter.ts";
export type { Start } from "./starts.ts";
export { Commits } from "./commits.ts";
export type { CommitParts } from "./commits.ts";
export { TransactionOffsets } from "./transaction-offsets.ts";
export type { TransactionOffsetsParts } from "./transaction-offsets.ts";
export { bufferOf } from "./buffer-of.ts";
export { giveUp } from "./give-up.ts";
export { TopicCheck } from "./topic-check.ts";
export type { TopicCheckParts } from "./topic-check.ts";
export { TopicWatch } from "./topic-watch.ts";
export type { TopicWatchParts } from "./topic-watch.ts";
export { PartitionWaits } from "./partition-waits.ts";
export type { PartitionWaitsParts } from "./partition-waits.ts";
export { whileHeld } from "./while-held.ts";
export type { StillHeld } from "./while-held.ts";
export { MessageObjectsBatch } from "./message-objects-batch.ts";
export type { MessageObject, MessageObjects } from "./message-objects-batch.ts";

// The brokers' side: what a driver asks them, and what it concludes.
export type { BrokerQuestions, TopicIdsByName, Tried } from "./broker-questions.ts";
export { preflight, wantedTopics } from "./preflight.ts";
export { lostRangeAt, lostRangeError, resumeOrFail } from "./lost-range.ts";
export type { IdentifiedPlace, LogEnds, Position } from "./lost-range.ts";
export { isOfAnotherTopic } from "./lost-range.ts";
export { endsAt, missingAt, rangesOf } from "./log-ranges.ts";
export { commitMetadata, originOf } from "./commit-metadata.ts";
export type { CommitOrigin } from "./commit-metadata.ts";
export { isReplacedIn, landmarkBefore, noteLandmarks } from "./landmarks.ts";
export type { Landmark } from "./landmarks.ts";
export { placeOf, topicsOf, topicsText } from "./place.ts";
export type { Place } from "./place.ts";

// Errors, options and waits.
export { DriverError, isDriverErrorNamed } from "./errors.ts";
export type { DriverErrorCode, DriverErrorOptions, MakeDriverError } from "./errors.ts";
export { askListeners, explainedByListeners, isNobodyThere, refusedCredential, settingNames } from "./listener-contrast.ts";
export type { ConnectionAttempt, ConnectionDiagnosis, SettingNames } from "./listener-contrast.ts";
export { neededToCreate, neededToRead, neededToWrite, refusedResource } from "./missing-right.ts";
export type { GroupAndTopics, RefusedResource } from "./missing-right.ts";
export { WriteFailures } from "./write-failures.ts";
export type { WriteFailureParts } from "./write-failures.ts";
export { didYouMean } from "./did-you-mean.ts";
export { isError } from "./is-error.ts";
export { isObject, OptionChecks } from "./option-checks.ts";
export type { GivenOptions } from "./option-checks.ts";
export { maxInt32, numberOptions, optionalNumber } from "./number-options.ts";
export type { NumberOptions } from "./number-options.ts";
export { checkHeartbeats, groupProtocolOf, membershipDefaults } from "./membership-options.ts";
export type { GroupProtocol, MembershipTimes } from "./membership-options.ts";
export { askForCredential } from "./credential.ts";
export type { CredentialQuestion } from "./credential.ts";
export { bounded, settledOrLate, untilAborted } from "./bounded.ts";
export { RepeatedLines } from "./repeated-lines.ts";
export { RequestLine } from "./request-line.ts";
