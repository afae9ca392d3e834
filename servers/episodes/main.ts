import { runProgram } from '../../common/cli/index.js'
import { PROGRAM } from './commands/program.js'

await runProgram(PROGRAM)
