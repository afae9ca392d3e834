#!/usr/bin/env node
import '../swarm/polyfill.js'
import { Command } from 'commander'
import { ConfigError } from '../coordinator/settings/config.js'
import { TrainerError } from '../coordinator/spool/errors.js'
import { DatasetError } from '../dataset/index.js'
import { EngineError } from '../engine/index.js'
import { CalibrationError } from '../judging/thresholds.js'
import { SynthesisError, TeacherError } from '../synthesis/index.js'
import { addCalibrateCommand } from './commands/calibrate.js'
import { addDatasetCommand } from './commands/dataset.js'
import { addDemonstrationsCommand } from './commands/demonstrations.js'
import { addEvalCommand } from './commands/eval.js'
import { addSynthesizeCommand } from './commands/synthesize.js'

const program = new Command('prove-lab').description('Make and inspect data sets, evaluate policies, calibrate audits')
addSynthesizeCommand(program)
addDatasetCommand(program)
addDemonstrationsCommand(program)
addEvalCommand(program)
addCalibrateCommand(program)

/** What the user can put right; anything else is a fault of ours and keeps its stack trace. */
const EXPECTED = [CalibrationError, ConfigError, DatasetError, EngineError, SynthesisError, TeacherError, TrainerError]
const isFileError = (error: unknown): error is Error =>
  error instanceof Error && 'syscall' in error && 'path' in error && typeof error.path === 'string'

try {
  await program.parseAsync()
} catch (error) {
  if (!isFileError(error) && !EXPECTED.some((kind) => error instanceof kind)) throw error
  process.stderr.write(`prove-lab: ${(error as Error).message}\n`)
  process.exitCode = error instanceof ConfigError ? 2 : 1
}
