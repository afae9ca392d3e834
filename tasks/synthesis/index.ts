export { OBJECTIONS, objectionText } from './making/objections.js'
export { planText, type TaskPlan } from './making/plan.js'
export * from './making/recipe.js'
export type { Rejection } from './making/synthesis-context.js'
export {
  createParaphraser,
  type Paraphraser,
  ParaphraserError,
  type ParaphraserReport,
  rephraseAll,
} from './paraphraser/index.js'
export { type Composition, compositionOf, PAPER_COMPOSITION, SPLIT_SHARES } from './production/assignments.js'
export * from './production/finished-batches.js'
export {
  type Missing,
  type Plan,
  type ProduceOptions,
  type Production,
  type Progress,
  produce,
} from './production/produce.js'
export { programHash } from './production/program-hash.js'
export { createSanityCheck, type SanityCheck } from './production/sanity-check.js'
export * from './production/stream-examples.js'
export * from './production/worker-pool.js'
