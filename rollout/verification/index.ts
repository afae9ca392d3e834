export { type CanaryStatistics, canaryTolerance, UNMEASURED_TOLERANCE } from './canary-tolerance.js'
export { binomialCdf, poissonTail, poissonUpper, quantile, type Share, shareOf } from './chances.js'
export {
  ANNOUNCEMENT_CHECK,
  AUDIT_CHECKS,
  type AuditCode,
  BODY_CHECKS,
  beginCheck,
  CHECKS,
  type CheckCode,
  type CheckNumber,
  type CheckOutcome,
  type CheckWatch,
  checkOf,
  DUPLICATES_CHECK,
  outcomeOf,
  UNWATCHED,
  type VerificationCheck,
} from './checks.js'
export type { AnnouncedGroup, ExpectedGroup } from './delivered-group.js'
export { nondeterministicEnvironments } from './environment-determinism.js'
export { leaseSeed, newRoundSecret, roundSecretHash } from './lease-seed.js'
export {
  expectedLogitError,
  type LogitErrorExpectation,
  type LogitErrorSums,
  sumLogitErrors,
} from './logit-error-sums.js'
export {
  type CompletionDigests,
  completionDigests,
  completionOf,
  type EarlierGroup,
  findOverlap,
  type Overlap,
} from './overlap.js'
export { describePublishedGroup, GROUP_FORMAT, type GroupToPublish, publishedGroup } from './published-group.js'
export { largestBody, recordCall } from './recorded-call.js'
export { NondeterministicEnvironments } from './replay.js'
export { type GroupStatistics, measureGroup, type SampledToken, type TokenStatistics } from './sampled-token.js'
export { type AuditedGroup, type AuditedRollout, drawsOf, rolesOf, type TokenReader, turnsOf } from './sampled-turns.js'
export {
  type Calibration,
  CalibrationError,
  type CalibrationSubject,
  calibrationSchema,
  describeHonest,
  fitThresholds,
  parseCalibration,
  type Thresholds,
} from './thresholds.js'
export { verifyGroupBody } from './verify-group-body.js'
export { type AuditFinding, measureFalseRefusals, verifyStatistics } from './verify-statistics.js'
