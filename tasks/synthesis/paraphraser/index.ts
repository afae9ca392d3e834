export { ParaphraserError } from './errors.js'
export {
  createParaphraser,
  type Paraphraser,
  type ParaphraserOptions,
  type ParaphraserReport,
  type RephraseContext,
} from './paraphraser.js'
export { rephraseAll } from './rephrase-all.js'
