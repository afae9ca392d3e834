import '../swarm/polyfill.js'
import { runProgram } from '../cli/index.js'
import { ConfigError } from '../coordinator/settings/config.js'

await runProgram({
  name: 'prove-lab',
  description: 'Make and inspect data sets, evaluate policies, calibrate audits',
  commands: {
    synthesize: async () => (await import('./commands/synthesize.js')).addSynthesizeCommand,
    dataset: async () => (await import('./commands/dataset.js')).addDatasetCommand,
    demonstrations: async () => (await import('./commands/demonstrations.js')).addDemonstrationsCommand,
    eval: async () => (await import('./commands/eval.js')).addEvalCommand,
    calibrate: async () => (await import('./commands/calibrate.js')).addCalibrateCommand,
  },
  statusOf: (error) => (error instanceof ConfigError ? 2 : 1),
})
