import { pathToFileURL } from 'node:url'

// Runs another program, `node ends-with-parent.js program.cjs arguments`, and ends it when standard input closes: the operating system
// closes the pipe however the parent ends. `--import` would not do, because children of the program inherit it.
const [node = '', , program = '', ...args] = process.argv
process.argv = [node, program, ...args]
process.stdin.resume().once('end', () => process.kill(process.pid, 'SIGTERM'))
if ('unref' in process.stdin) process.stdin.unref()
await import(pathToFileURL(program).href)
