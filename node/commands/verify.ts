import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { EXIT, stopSignal } from '../../common/cli/index.js'
import type { Engine } from '../../rollout/engine/index.js'
import { type Calibration, parseCalibration } from '../../rollout/verification/index.js'
import { loadEnvironments } from '../../servers/catalogue.js'
import { withEnvironmentFolders } from '../../servers/environment-option.js'
import { createBlobStore, readKey } from '../../swarm/index.js'
import { findBaseModel, readBaseModel } from '../base/find-base.js'
import { openModelCache } from '../base/model-cache.js'
import { publishableGroup } from '../delivery/publish-group.js'
import { withEngine } from '../doctor/examination.js'
import { runtimeFor } from '../policy/policy-runtime.js'
import { NodeError } from '../report/errors.js'
import { verdictLine } from '../report/progress.js'
import type { KeptGroup } from '../store/kept-group.js'
import type { LastGroup } from '../store/records.js'
import { type VerifiedCheck, verifyGroup } from '../verification/verify-group.js'
import { dataFolder, demoModel } from './defaults.js'
import { lastGroupOf } from './kept-records.js'

interface VerifyOptions {
  readonly dataDir: string
  readonly model?: string
  readonly cpu: boolean
  readonly calibration?: string
  readonly json: boolean
  readonly out?: string
}

/** Adds `prove-node verify-group`: verifies the last group with a verdict again, offline. The exit status is 1 if a check fails. */
export function addVerifyCommand(program: Command): void {
  withEnvironmentFolders(program.command('verify-group'))
    .description('Verify your last group with the checks of the coordinator, on your own engine')
    .option('--data-dir <folder>', 'data folder of the program', dataFolder)
    .option('--model <gguf>', 'base model; default: the fetched one, or the one in this package')
    .option('--cpu', 'do not use a GPU', false)
    .option('--calibration <file>', 'calibration of prove-lab calibrate; without one, only the numbers are shown')
    .option('--json', 'print JSON on stdout', false)
    .option(
      '--out <file>',
      'where to write the result, the signed group, which others can verify with prove-server play --port',
    )
    .action(async (options: VerifyOptions) => {
      const { signal } = stopSignal()
      const record = await lastGroupOf(options.dataDir)
      if (record === null)
        throw new NodeError('nothing_kept', `${options.dataDir} contains no group with a verdict yet`)
      const checks = await verify(record, options, signal)
      process.stdout.write(options.json ? `${JSON.stringify(report(record, checks))}\n` : text(record, checks))
      if (options.out !== undefined) await save(record, options.dataDir, options.out)
      if (checks.some(({ outcome }) => outcome === 'failed')) process.exitCode = EXIT.failed
    })
}

/** Writes the signed group. @throws NodeError `nothing_kept` without a key; the system's error if the file exists */
async function save(record: LastGroup, dataDir: string, file: string): Promise<void> {
  const identity = await readKey(dataDir)
  if (identity === null) throw new NodeError('nothing_kept', `${dataDir} contains no key to sign with`)
  const group = await publishableGroup(record, identity.privateKey)
  await writeFile(file, `${JSON.stringify(group)}\n`, { flag: 'wx' })
}

async function verify(
  { group, closedRounds }: LastGroup,
  { dataDir, model, cpu, calibration: file }: VerifyOptions,
  signal: AbortSignal,
): Promise<VerifiedCheck[]> {
  const { base, adapterSha256, limits, cacheType } = group.origin
  const path = await basePath(base, dataDir, model ?? null, signal)
  const calibration = file === undefined ? null : parseCalibration(await readFile(file, 'utf8'))
  return withEngine(
    { modelPath: path, contextSize: limits.maxRolloutTokens, slots: 1, cacheType },
    { threads: 1, gpu: cpu ? 'none' : 'auto' },
    async ({ engine, tokenizer }) => {
      if (calibration) checkCalibration(calibration, group, engine.build)
      await applyPolicy(engine, join(dataDir, 'blobs'), adapterSha256, signal)
      const replayContext = runtimeFor(group.origin, (await loadEnvironments()).values(), tokenizer)
      return verifyGroup(group, { replayContext, engine, calibration, closedRounds }, signal)
    },
  )
}

/** @throws NodeError `wrong_base` */
async function basePath(
  { name, sha256 }: KeptGroup['origin']['base'],
  dataDir: string,
  given: string | null,
  signal: AbortSignal,
): Promise<string> {
  if (given === null) {
    const found = await findBaseModel(sha256, { packaged: demoModel, cache: await openModelCache(dataDir) }, signal)
    if (found) return found.path
    throw new NodeError(
      'wrong_base',
      `${name}, SHA-256 ${sha256}, is no longer in ${dataDir}: give the file with --model`,
    )
  }
  const { path, blob } = await readBaseModel(given, signal)
  if (blob.sha256 === sha256) return path
  throw new NodeError(
    'wrong_base',
    `the group was generated with ${name}, SHA-256 ${sha256}, but ${path} has ${blob.sha256}`,
  )
}

async function applyPolicy(engine: Engine, blobs: string, sha256: string | null, signal: AbortSignal): Promise<void> {
  if (sha256 === null) return engine.usePolicy(null, signal)
  const path = (await createBlobStore(blobs)).path(sha256)
  const there = await stat(path).then(
    () => true,
    () => false,
  )
  if (!there) throw new NodeError('nothing_kept', `the adapter of the group is no longer on this disk: ${path}`)
  await engine.usePolicy({ path, sha256 }, signal)
}

/** Checks that the thresholds are for this engine: others depend on other weights or kernels. */
function checkCalibration(
  { subject }: Calibration,
  { origin }: KeptGroup,
  { backend, nodeLlamaCpp }: Engine['build'],
): void {
  const { sha256, quantisation } = origin.base
  const differ = [
    subject.baseSha256 === sha256 ? [] : ['base model'],
    subject.quantisation === quantisation ? [] : ['quantisation'],
    subject.backend === backend ? [] : ['backend'],
    subject.nodeLlamaCpp === nodeLlamaCpp ? [] : ['build of the engine'],
  ].flat()
  if (differ.length > 0)
    throw new NodeError('wrong_calibration', `the calibration is for another ${differ.join(' and ')}`)
}

function report({ run, group, verdicts }: LastGroup, checks: readonly VerifiedCheck[]): object {
  const { lease, round } = group.origin
  const { leaseId, taskId, version } = lease
  return { run, leaseId, taskId, version, round, bodySha256: group.bodySha256, verdicts, checks }
}

function text({ group, verdicts }: LastGroup, checks: readonly VerifiedCheck[]): string {
  const { leaseId, taskId, version, groupSize } = group.origin.lease
  const lines = [`group ${leaseId} of ${groupSize} rollouts, task ${taskId}, policy version ${version}`]
  for (const [i, verdict] of verdicts.entries()) lines.push(`verdict: ${verdictLine(verdict, verdicts[i - 1] ?? null)}`)
  const width = Math.max(...checks.map(({ name }) => name.length))
  for (const { name, outcome, detail } of checks)
    lines.push(`${name.padEnd(width)}  ${outcome.padEnd('not checked'.length)}  ${detail}`)
  return `${lines.join('\n')}\n`
}
