export { annotationForm } from './annotation-form.js'
export { addAnnotations } from './annotations.js'
export { answerWords } from './answer-words.js'
export { areaUnderCurve, orderedPairs } from './area-under-curve.js'
export {
  type BaselineCheck,
  type Baselines,
  baselineTable,
  createBaselineCheck,
  describeLengthAuc,
} from './baselines.js'
export type { DatasetInfo, Outcome, SanityResult } from './dataset-info.js'
export { diversity } from './diversity.js'
export { domainRulesProblem, domainRulesText } from './domain-rules-kept.js'
export { DatasetError, type DatasetErrorCode, ExampleMismatch, type MismatchCode } from './errors.js'
export * from './example.js'
export { renderExample, renderOverview } from './inspect.js'
export type { Manifest } from './manifest.js'
export { markdownTable, percent } from './markdown.js'
export { type ChatMessage, messagesOf, type ToolSchema, toolSchemasOf } from './messages.js'
export { addProfiles, type PolicyProfile, PROFILES_FILE } from './policy-profiles.js'
export * from './profile.js'
export { type Quota, quotasOf, unmetQuotas } from './quotas.js'
export { type Dataset, type OpenDatasetOptions, openDataset, type ReadExample, readExamples } from './read.js'
export {
  type DatasetRecord,
  exampleOfRecord,
  lineOf,
  parseRecord,
  RECORD_LIMITS,
  RECORD_SCHEMA,
  recordOf,
} from './record.js'
export { countExample, emptyStatistics, type Statistics } from './statistics.js'
export { type Verified, verifyDataset, verifyExample, verifyFile } from './verify.js'
export { writeDataset } from './write.js'
