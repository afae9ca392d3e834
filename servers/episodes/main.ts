import { parseOrExplain } from '../../common/cli/index.js'
import { serverProgram } from './commands/program.js'

await parseOrExplain(serverProgram())
