export { binomialCdf, poissonTail, poissonUpper, quantile, type Share, shareOf } from './chances.js'
export type { AnnouncedGroup, ExpectedGroup } from './delivered-group.js'
export { type GroupStatistics, measureGroup, type SampledToken, type TokenStatistics } from './evidence.js'
export { judgeGroup } from './judge-group.js'
export { type AuditFinding, judgeStatistics, measureFalseRefusals } from './judge-statistics.js'
export { leaseSeed, newRoundSecret, roundSecretHash } from './lease-seed.js'
export { completionOf, type EarlierGroup, findOverlap, type Overlap, type Sayings, sayingsOf } from './overlap.js'
export { describePublishedGroup, GROUP_FORMAT, type GroupToPublish, publishedGroup } from './published-group.js'
export { largestBody, recordCall } from './recorded-call.js'
export { expectedRepair, type RepairExpectation, type RepairSums, sumRepairs } from './repair-sums.js'
export { UnstableWorlds } from './replay.js'
export { type AuditedGroup, type AuditedRollout, drawsOf, rolesOf, type TokenReader, turnsOf } from './sampled-turns.js'
export {
  ANNOUNCEMENT_STAGE,
  BODY_STAGES,
  beginStage,
  DUPLICATES_STAGE,
  EVIDENCE_STAGES,
  type EvidenceCode,
  type JudgingStage,
  outcomeOf,
  STAGES,
  type StageCode,
  type StageNumber,
  type StageOutcome,
  type StageWatch,
  stageOf,
  UNWATCHED,
} from './stages.js'
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
