export {
  OBJECTIONS,
  type Problem,
  type ProblemKind,
  TeacherError,
  type TeacherErrorCode,
} from './errors.js'
export { PROMPT_VERSION, TEACHER_LIMITS, type TeacherLimits } from './limits.js'
export {
  createTeacher,
  type RephraseContext,
  type Rephrased,
  type Teacher,
  type TeacherOptions,
  type TeacherReport,
} from './paraphraser.js'
export { rephraseAll } from './rephrase-all.js'
