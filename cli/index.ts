export { packageRoot } from './package-root.js'
export { createProgram, type RunOptions, runProgram } from './run-program.js'
