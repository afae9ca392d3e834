#!/usr/bin/env node
import '../swarm/polyfill.js'
import { Command } from 'commander'
import { EngineError } from '../engine/index.js'
import { CalibrationError } from '../judging/thresholds.js'
import { IdentityError } from '../swarm/index.js'
import { BackupError } from './backup/backup-error.js'
import { addBackupCommand } from './commands/backup.js'
import { addMetricsCommand } from './commands/metrics.js'
import { addRestoreCommand } from './commands/restore.js'
import { addStartCommand } from './commands/start.js'
import { DataFolderError } from './ledger/disk-losses.js'
import { StoreError } from './ledger/event-log.js'
import { ControlError } from './service/control-client.js'
import { ConfigError } from './settings/config.js'
import { TrainerError } from './spool/errors.js'

const program = new Command('prove-coordinator').description('Run a PROVE training swarm')
addStartCommand(program)
addBackupCommand(program)
addRestoreCommand(program)
addMetricsCommand(program)

/** What the operator can put right; anything else is a fault of ours and keeps its stack trace. */
const EXPECTED = [
  ...[CalibrationError, ConfigError, StoreError, TrainerError, EngineError, IdentityError],
  ...[BackupError, ControlError, DataFolderError],
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
