export { NO_EXTENSION, scoreExtended } from './extension.js'
export { callBudget, isExecutable, MAX_REWARD, score, WEIGHTS } from './score.js'
export { solvedExactly } from './solved.js'
export * from './types.js'
