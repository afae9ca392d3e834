import '../swarm/polyfill.js'
import { runProgram } from '../cli/index.js'
import { PROGRAM } from './commands/program.js'

await runProgram(PROGRAM)
