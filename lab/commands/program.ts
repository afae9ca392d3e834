import type { Program } from '../../common/cli/index.js'
import { HELP } from './help.js'

/** The program with its commands, in the order of its help. */
export const PROGRAM: Program = {
  name: 'prove-lab',
  description: 'Make and inspect data sets, evaluate and compare policies, calibrate audits',
  help: HELP,
  commands: {
    synthesize: async () => (await import('./synthesize.js')).addSynthesizeCommand,
    dataset: async () => (await import('./dataset.js')).addDatasetCommand,
    demonstrations: async () => (await import('./demonstrations.js')).addDemonstrationsCommand,
    eval: async () => (await import('./eval.js')).addEvalCommand,
    bfcl: async () => (await import('./bfcl.js')).addBfclCommand,
    profile: async () => (await import('./profile.js')).addProfileCommand,
    probe: async () => (await import('./probe.js')).addProbeCommand,
    calibrate: async () => (await import('./calibrate.js')).addCalibrateCommand,
    ablate: async () => (await import('./ablate.js')).addAblateCommand,
  },
}
