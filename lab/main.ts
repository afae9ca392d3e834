import '../swarm/polyfill.js'
import { createProgram, runProgram } from '../cli/index.js'
import { ConfigError } from '../coordinator/settings/config.js'
import { addCalibrateCommand } from './commands/calibrate.js'
import { addDatasetCommand } from './commands/dataset.js'
import { addDemonstrationsCommand } from './commands/demonstrations.js'
import { addEvalCommand } from './commands/eval.js'
import { addSynthesizeCommand } from './commands/synthesize.js'

const program = createProgram('prove-lab', 'Make and inspect data sets, evaluate policies, calibrate audits')
addSynthesizeCommand(program)
addDatasetCommand(program)
addDemonstrationsCommand(program)
addEvalCommand(program)
addCalibrateCommand(program)

await runProgram(program, { statusOf: (error) => (error instanceof ConfigError ? 2 : 1) })
