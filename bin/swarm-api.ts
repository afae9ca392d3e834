/** `prove-swarm/swarm`: a coordinator and volunteers within a program of your own. See examples/swarm.mjs. */
import '../swarm/polyfill.js'
import { join } from 'node:path'
import { packageRoot } from '../common/cli/index.js'
import { defaultPython, trainerFolder } from '../coordinator/jobs/python.js'
import type { Progress } from '../coordinator/service/progress.js'
import { type RunningCoordinator, startCoordinator } from '../coordinator/service/start-coordinator.js'
import { type RunConfig, readConfig } from '../coordinator/settings/config.js'
import { runArgument } from '../node/commands/arguments.js'
import type { LimitSettings } from '../node/limits/settings.js'
import type { NodeProgress } from '../node/report/progress.js'
import { openSession, type Session } from '../node/session/session.js'
import { createStderrLogger } from '../swarm/index.js'

export type { LimitSettings, NodeProgress, Progress, RunConfig, RunningCoordinator, Session }
export { readConfig }

/** Base model of the demo, which is part of the package. */
export const demoModel = join(packageRoot, 'models', 'demo', 'prove-demo-base-f16.gguf')

/** Options of a coordinator. */
export interface StartRunOptions {
  /** Whether the coordinator plays some tasks before the first version. Default: yes. */
  readonly dryRun?: boolean
  readonly onProgress?: (progress: Progress) => void
}

/**
 * Starts the coordinator of a run, or resumes it. The caller closes it. The trainer needs Python (`prove-coordinator setup`).
 * @throws ConfigError, TrainerError, StoreError
 */
export const startRun = (config: RunConfig, options: StartRunOptions = {}): Promise<RunningCoordinator> =>
  startCoordinator({
    ...{ config, trainerFolder, python: defaultPython() },
    dryRun: options.dryRun ?? true,
    logger: createStderrLogger('warn'),
    onProgress: options.onProgress ?? (() => undefined),
  })

/** Options of a volunteer. */
export interface JoinRunOptions {
  /** Folder for identity, unsent groups, verdicts and base models. Each node needs its own. */
  readonly dataDir: string
  /** File of the base model. Default: the node fetches it. */
  readonly model?: string
  /** Addresses to listen on. Default: a free port. */
  readonly listen?: readonly string[]
  readonly limits?: LimitSettings
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: NodeProgress) => void
}

/**
 * Joins a run as a volunteer. The caller closes the session.
 * @param run  an invitation, or the address of the coordinator
 * @throws NodeError, InvitationError, EngineError
 */
export async function joinRun(run: string, options: JoinRunOptions): Promise<Session> {
  const { dataDir, model, listen, limits, signal, onProgress } = options
  const { coordinator, invitation } = await runArgument(run)()
  return openSession({
    ...{ coordinator, invitation, dataDir, packagedModel: demoModel },
    modelPath: model ?? null,
    agree: async () => true,
    whereabouts: listen === undefined ? {} : { listen: [...listen] },
    mostTokens: null,
    stay: false,
    mirrors: false,
    team: undefined,
    given: limits ?? {},
    logger: createStderrLogger('warn'),
    signal: signal ?? new AbortController().signal,
    onProgress: onProgress ?? (() => undefined),
    onView: () => undefined,
  })
}
