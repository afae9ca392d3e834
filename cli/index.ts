export { describePrograms } from './describe-program.js'
export { packageRoot } from './package-root.js'
export { createProgram, type Program, parseOrExplain, runProgram, withCommands } from './run-program.js'
export { isBefore, PACKAGE_VERSION, packageVersion } from './version.js'
