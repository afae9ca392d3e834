export { packageRoot } from './package-root.js'
export { createProgram, parseOrExplain, runProgram } from './run-program.js'
export { packageVersion } from './version.js'
