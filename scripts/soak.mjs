// Loads a coordinator with honest and hostile messages and reports whether its memory stays level.
// Usage: npm run soak -- [--messages 50000] [--minutes 30] [--seed 1] [--json]
import { runProgram, setUpFirst } from './set-up-first.mjs'

setUpFirst(['--programs'])
runProgram('dist/test/soak/soak.js')
