import { type Command, InvalidArgumentError } from 'commander'
import writeFileAtomic from 'write-file-atomic'
import { stopSignal } from '../../common/cli/index.js'
import { PUBLISHED_FILES, type SealedManifest } from '../../proto/index.js'
import { checkPeerId, type JoinAddress } from '../../swarm/index.js'
import type { ListedVersion } from '../adapters/library.js'
import { type CheckedFolder, checkPulledFolder } from '../adapters/pulled-folder.js'
import { runCertificate } from '../adapters/run-certificate.js'
import { NodeError } from '../report/errors.js'
import { inBytes } from '../report/in-bytes.js'
import { nodeOption, runArgument } from './arguments.js'
import { type ChosenRun, KNOWN_RUN_ARGUMENT, knownRunArgument } from './chosen-run.js'
import { dataFolder } from './defaults.js'
import { addMergeCommand, type MergeOptions, MODEL_TO_MERGE, mergePulled } from './merge.js'
import { addPushCommand } from './push.js'
import { addRederiveCommand } from './rederive.js'
import { type AskOptions, withLibrary } from './with-library.js'

interface PullOptions extends AskOptions, MergeOptions {
  readonly evidence: boolean
  readonly merge?: string
}

interface VerifyOptions {
  readonly run?: () => Promise<string>
  readonly partial: boolean
  readonly certificate?: string
  readonly json: boolean
}

/** Adds `prove-node adapters`: the published versions of a run, for researchers. */
export function addAdaptersCommands(program: Command): void {
  const adapters = program.command('adapters').description('The published versions of a run')
  const asking = (command: Command): Command =>
    command
      .argument(...KNOWN_RUN_ARGUMENT, knownRunArgument)
      .option(
        '--from <address>',
        'another node of the run to ask, ending in /p2p/ and its key; repeatable; or the URL of a dashboard, which is then the only source',
        sourceOption,
        [],
      )
      .option('--data-dir <folder>', 'data folder of the program', dataFolder)
  const version = [
    '--policy-version <number>',
    'an older version, if one of the sources has it',
    versionOption,
  ] as const

  asking(adapters.command('list').description('List the available versions'))
    .option('--json', 'print JSON on stdout', false)
    .action((run: ChosenRun, options: AskOptions) =>
      withLibrary(run, options, async (library, signal) => {
        const listed = await library.versions(signal)
        process.stdout.write(
          options.json ? `${JSON.stringify(listed.map(record))}\n` : listing(listed, library.sources),
        )
      }),
    )
  asking(adapters.command('show').description('Show one version: its files with their hashes, base model and round'))
    .option(...version)
    .option('--json', 'print JSON on stdout', false)
    .action((run: ChosenRun, options: AskOptions) =>
      withLibrary(run, options, async (library, signal) => {
        const sealed = await library.find(options.policyVersion, signal)
        process.stdout.write(options.json ? `${JSON.stringify(details(sealed))}\n` : description(sealed))
      }),
    )
  asking(
    adapters
      .command('pull')
      .description('Download a version: a PEFT folder with the GGUF and the signed manifest')
      .argument('<folder>', 'folder for the version'),
  )
    .option(...version)
    .option('--evidence', 'also download the files with which the training step can be made again', false)
    .option('--merge <file>', 'also write base model and adapter as one GGUF: see "merge"')
    .option(...MODEL_TO_MERGE)
    .action((folder: string, run: ChosenRun, options: PullOptions) =>
      withLibrary(run, options, async (library, signal) => {
        const publication = await library.find(options.policyVersion, signal)
        const { written, left } = await library.pull(publication, folder, options.evidence ? 'all' : 'model', signal)
        for (const path of written) process.stdout.write(`${path}\n`)
        if (left.length > 0)
          process.stderr.write(
            `prove-node: no source has ${left.join(', ')} of version ${publication.manifest.version}\n`,
          )
        if (options.merge !== undefined) await mergePulled(folder, options.merge, options, signal)
      }),
    )
  addMergeCommand(adapters)
  addPushCommand(adapters)
  addRederiveCommand(asking(adapters.command('rederive')))
  adapters
    .command('verify')
    .description('Check signature and hashes of a pulled folder, offline')
    .argument('<folder>', 'a folder from "pull"')
    .option(
      '--run <run>',
      'the run that must have signed the folder: an invitation, an address or its key; default: any run',
      runOption,
    )
    .option('--partial', 'accept a folder in which files are missing', false)
    .option(
      '--certificate <file>',
      'write the run’s certificate to this file (PEM), for verifiers of OpenSSF Model Signing',
    )
    .option('--json', 'print JSON on stdout', false)
    .action(async (folder: string, options: VerifyOptions) => {
      const { signal: stop } = stopSignal()
      const checked = await checkPulledFolder(folder, (await options.run?.()) ?? null, stop)
      process.stdout.write(options.json ? `${JSON.stringify(verdict(checked))}\n` : checkedText(checked))
      const isFault = ({ outcome }: CheckedFolder['files'][number]): boolean =>
        outcome === 'changed' || (outcome === 'missing' && !options.partial)
      const wrong = checked.files.filter(isFault).map(({ name, outcome }) => `${name} is ${outcome}`)
      if (wrong.length > 0)
        throw new NodeError('bad_folder', `${folder} differs from the publication: ${wrong.join(', ')}. Pull it again`)
      if (options.certificate !== undefined)
        await writeFileAtomic(options.certificate, await runCertificate(folder, checked.run))
    })
}

const versionOption = (text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Give the number of a version, 0 or more.')
  return Number(text)
}

const sourceOption = (text: string, earlier: readonly (JoinAddress | string)[]): (JoinAddress | string)[] => {
  if (/^https?:\/\//.test(text)) {
    if (URL.canParse(text)) return [...earlier, text]
    throw new InvalidArgumentError('Give a URL such as https://run.example.org.')
  }
  return [...earlier, ...nodeOption(text, [])]
}

const runOption = (text: string): (() => Promise<string>) => {
  if (/^[1-9A-HJ-NP-Za-km-z]+$/.test(text)) {
    try {
      const key = checkPeerId(text)
      return async () => key
    } catch (error) {
      throw new InvalidArgumentError((error as Error).message)
    }
  }
  const named = runArgument(text)
  return async () => (await named()).coordinator.peerId
}

const nameOf = (role: string): string => PUBLISHED_FILES.find((file) => file.role === role)?.name ?? role

function details({ manifest, manifestId }: SealedManifest): object {
  const { version, round, createdAtMs, policy, blobs, configurationId } = manifest
  const files = blobs.map(({ role, sizeBytes, sha256 }) => ({ name: nameOf(role), role, sizeBytes, sha256 }))
  const { base, adapter, toolCallFormat, reward, cacheType } = policy
  return {
    version,
    round,
    createdAt: new Date(createdAtMs).toISOString(),
    manifestId,
    configurationId,
    base,
    adapter,
    toolCallFormat,
    reward,
    cacheType,
    files,
  }
}

const record = ({ sealed, holders }: ListedVersion): object => ({ ...details(sealed), holders })

function listing(versions: readonly ListedVersion[], sources: readonly string[]): string {
  if (versions.length === 0) return 'nothing has been published yet\n'
  return versions
    .map(({ sealed: { manifest }, holders }) => {
      const { version, createdAtMs, policy } = manifest
      const { sizeBytes, sha256 } = policy.adapter!
      const held = holders.length === 0 ? 'no source has it' : `${holders.length} of ${sources.length} sources have it`
      const columns = [`version ${String(version).padStart(4)}`, new Date(createdAtMs).toISOString()]
      return `${[...columns, inBytes(sizeBytes).padStart(8), sha256.slice(0, 12), held].join('  ')}\n`
    })
    .join('')
}

function description({ manifest, manifestId }: SealedManifest): string {
  const { version, round, policy, createdAtMs, blobs } = manifest
  const { base, adapter, toolCallFormat, reward, cacheType } = policy
  const lines = [
    `version ${version} of ${base.name}, ${new Date(createdAtMs).toISOString()}`,
    ...blobs.map(
      ({ role, sizeBytes, sha256 }) => `  ${role.padEnd(14)} ${String(sizeBytes).padStart(10)} B  ${sha256}`,
    ),
    `round ${round}, manifest ${manifestId}`,
    `base ${base.name} ${base.quantisation}, SHA-256 ${base.ggufSha256}`,
    ...(adapter ? [`LoRA rank ${adapter.rank}, alpha ${adapter.alpha}, on ${adapter.targetModules.join(', ')}`] : []),
    `tool-call format ${toolCallFormat}, reward ${reward}`,
    `sampled with caches of ${cacheType}`,
  ]
  return `${lines.join('\n')}\n`
}

const verdict = ({ run, sealed, files, unsigned }: CheckedFolder): object => ({
  run,
  version: sealed.manifest.version,
  manifestId: sealed.manifestId,
  files,
  unsigned,
})

function checkedText({ run, sealed, files, unsigned }: CheckedFolder): string {
  const width = Math.max(...files.map(({ name }) => name.length))
  return [
    `version ${sealed.manifest.version} of ${sealed.manifest.policy.base.name}, signed by the run ${run}`,
    ...files.map(
      ({ name, outcome, detail }) => `  ${name.padEnd(width)}  ${outcome.padEnd('missing'.length)}  ${detail}`,
    ),
    ...(unsigned.length > 0 ? [`not signed: ${unsigned.join(', ')}`] : []),
    '',
  ].join('\n')
}
