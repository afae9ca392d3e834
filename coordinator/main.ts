#!/usr/bin/env node
import '../swarm/polyfill.js'
import { Command } from 'commander'
import { EngineError } from '../engine/index.js'
import { CalibrationError } from '../judging/thresholds.js'
import { IdentityError } from '../swarm/index.js'
import { DatasetError, SynthesisError, TeacherError } from '../synthesis/index.js'
import { addCalibrateCommand } from './calibrate-command.js'
import { ConfigError } from './config.js'
import { addDatasetCommand } from './dataset-command.js'
import { addDemonstrationsCommand } from './demonstrations-command.js'
import { addEvalCommand } from './eval-command.js'
import { addStartCommand } from './start-command.js'
import { StoreError } from './store.js'
import { addSynthesizeCommand } from './synthesize-command.js'
import { TrainerError } from './train-engine.js'

const program = new Command('prove-coordinator').description('Run a PROVE training swarm')
addSynthesizeCommand(program)
addStartCommand(program)
addEvalCommand(program)
addDatasetCommand(program)
addDemonstrationsCommand(program)
addCalibrateCommand(program)

/** What the operator can put right; anything else is a fault of ours and keeps its stack trace. */
const EXPECTED = [
  TeacherError,
  CalibrationError,
  ConfigError,
  DatasetError,
  SynthesisError,
  StoreError,
  TrainerError,
  EngineError,
  IdentityError,
]
const isFileError = (error: unknown): error is Error =>
  error instanceof Error && 'syscall' in error && 'path' in error && typeof error.path === 'string'

try {
  await program.parseAsync()
} catch (error) {
  if (!isFileError(error) && !EXPECTED.some((kind) => error instanceof kind)) throw error
  process.stderr.write(`prove-coordinator: ${(error as Error).message}\n`)
  process.exitCode = error instanceof ConfigError ? 2 : 1
}
