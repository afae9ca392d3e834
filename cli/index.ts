export { packageRoot } from './package-root.js'
export { createProgram, parseOrExplain, runProgram } from './run-program.js'
export { isBefore, PACKAGE_VERSION, packageVersion } from './version.js'
