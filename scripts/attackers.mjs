// Carries out the attacks of docs/explain/attackers.md on this machine. Usage: npm run attackers -- [--help]
import { runProgram, setUpFirst } from './set-up-first.mjs'

setUpFirst()
runProgram('dist/test/attackers/main.js')
