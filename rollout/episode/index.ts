export * from './bound-values.js'
export * from './chat-template.js'
export * from './demonstrations.js'
export * from './environment-states.js'
export * from './episode-driver.js'
export * from './episode-runtime.js'
export * from './errors.js'
export * from './estimate.js'
export * from './evaluation.js'
export * from './execute-call.js'
export * from './held-out-set.js'
export * from './intervals.js'
export * from './limits.js'
export * from './prompt.js'
export * from './questions.js'
export * from './recorded-source.js'
export * from './reference-source.js'
export * from './rollout.js'
export * from './run-episode.js'
export * from './run-group.js'
export * from './scripted-user.js'
export * from './seeds.js'
export * from './task.js'
export {
  adviceFor,
  checkTemplate,
  type FormatFit,
  formatFits,
  requireFormat,
  type TemplateFindings,
} from './template-check.js'
export * from './tool-call-format.js'
export { TOOL_CALL_FORMATS, toolCallFormatNamed } from './tool-call-formats/index.js'
export { callOf } from './tool-call-formats/json-call.js'
export * from './toolset.js'
export * from './understood-message.js'
