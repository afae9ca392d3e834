export {
  OBJECTIONS,
  ParaphraserError,
  type ParaphraserErrorCode,
  type Problem,
  type ProblemKind,
} from './errors.js'
export { PARAPHRASER_LIMITS, type ParaphraserLimits, PROMPT_VERSION } from './limits.js'
export {
  createParaphraser,
  type Paraphraser,
  type ParaphraserOptions,
  type ParaphraserReport,
  type RephraseContext,
  type Rephrased,
} from './paraphraser.js'
export { rephraseAll } from './rephrase-all.js'
