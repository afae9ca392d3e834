import { parseOrExplain } from '../cli/index.js'
import { serverProgram } from './commands/program.js'

await parseOrExplain(serverProgram())
