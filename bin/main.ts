import '../swarm/polyfill.js'
import { runProgram } from '../common/cli/index.js'
import { PROGRAM } from './program.js'
import { PROGRAMS } from './programs.js'

const word = process.argv[2] ?? ''
const named = PROGRAMS.find((one) => one.word === word)
if (named) process.argv.splice(2, 1)
await runProgram(named ? await named.load() : PROGRAM)
