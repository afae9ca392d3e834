// Compares what the GPU of this machine computes with what the CPU computes: the engine of volunteers and the trainer of operators.
// Usage: npm run gpu-check -- [--part engine | trainer] [--software] [--help]; see docs/operate/sizing.md.
import { runProgram, setUpFirst } from './set-up-first.mjs'

const args = process.argv.slice(2)
// The engine needs no Python.
const isEngineAlone = args.includes('--software') || args.join(' ').includes('--part engine')
setUpFirst(isEngineAlone ? ['--programs'] : [])
runProgram('dist/test/gpu-check/main.js')
