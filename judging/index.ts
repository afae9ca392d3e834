export { binomialCdf, poissonTail, poissonUpper, quantile, type Share, shareOf } from './chances.js'
export { type GroupStatistics, measureGroup, type SampledToken, type TokenStatistics } from './evidence.js'
export { type ExpectedGroup, judgeGroup } from './judge-group.js'
export {
  type AuditRefusal,
  type AuditVerdict,
  judgeStatistics,
  measureFalseRefusals,
} from './judge-statistics.js'
export { leaseSeed, newRoundSecret, roundSecretHash } from './lease-seed.js'
export { completionOf, type EarlierGroup, findOverlap, type Overlap } from './overlap.js'
export { largestBody, recordCall } from './recorded-call.js'
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
export { unstableWorlds } from './world-stability.js'
