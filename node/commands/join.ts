import { createInterface } from 'node:readline/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { EXIT, integerOption } from '../../common/cli/index.js'
import { PRIVATE_UMASK } from '../../common/control/index.js'
import { countOf } from '../../common/errors/index.js'
import { isTeamName, LIMITS } from '../../proto/index.js'
import { withEnvironmentFolders } from '../../servers/environment-option.js'
import { createStderrLogger } from '../../swarm/index.js'
import type { LimitSettings } from '../limits/settings.js'
import { type JoinPlan, planText } from '../report/join-plan.js'
import { type NodeProgress, progressLine } from '../report/progress.js'
import { createLiveScreen } from '../screen/live-screen.js'
import { openSession, type Session } from '../session/session.js'
import type { NodeView } from '../session/view.js'
import type { WorkEnd } from '../work/work-state.js'
import { type NamedRun, RUN_ARGUMENT, runArgument } from './arguments.js'
import { remember } from './chosen-run.js'
import { dataFolder, demoModel } from './defaults.js'
import { addLimitOptions, givenLimits } from './limit-options.js'

const teamOption = (text: string): string => {
  const team = text.trim().normalize('NFC')
  if (isTeamName(team)) return team
  const most = LIMITS.teamBytes.value
  throw new InvalidArgumentError(`Give at most ${most} bytes of visible characters, with single blanks between them.`)
}

/** Adds `prove-node join`: work for a run. */
export function addJoinCommand(program: Command): void {
  const join = withEnvironmentFolders(program.command('join'))
    .description('Generate rollouts for a run until it is complete or you stop the node')
    .argument(...RUN_ARGUMENT, runArgument)
    .option('--data-dir <folder>', 'data folder of the program', dataFolder)
    .option('--model <gguf>', 'base model, of the run; default: the node fetches it')
    .option('--yes', 'ask nothing', false)
    .optionsGroup('Network:')
    .option('--listen <address...>', 'libp2p addresses to listen on; default: a free port, the same at each start')
    .option('--no-listen', 'accept no connections from other nodes')
    .option(
      '--announce <address...>',
      'addresses at which others reach this machine, if a router forwards a port to it',
    )
    .optionsGroup('')
    .option(
      '--context <tokens>',
      'longest rollout or conversation, prompt included; default: as long as the run needs',
      integerOption(256, LIMITS.rolloutTokens.value),
    )
    .option('--team <name>', 'count all credit of this key for this team on the leaderboard, from now on', teamOption)
    .option('--no-team', 'leave the team')
    .option('--stay', 'stay when the run is complete, to serve its adapter and in case the run is extended', false)
    .option(
      '--mirror',
      'keep and serve everything that the run publishes, so that it is available without the coordinator',
      false,
    )
    .optionsGroup('Output:')
    .option('--plain', 'print lines with their time instead of the live screen', false)
    .option('--json', 'print JSON on stdout, one object per line', false)
    .addOption(
      new Option('--log-level <level>', 'level of the log on stderr')
        .choices(['trace', 'debug', 'info', 'warn', 'error'])
        .default('warn'),
    )
  addLimitOptions(join).action(joinRun)
}

interface JoinOptions {
  dataDir: string
  model?: string
  yes: boolean
  /** False: accept no connections. */
  listen?: string[] | false
  announce?: string[]
  /** False: leave the team. */
  team?: string | false
  context?: number
  stay: boolean
  mirror: boolean
  plain: boolean
  json: boolean
  logLevel: string
}

async function joinRun(
  named: () => Promise<NamedRun>,
  options: JoinOptions & LimitSettings & { cpu: boolean },
): Promise<void> {
  const run = await named()
  const { coordinator, invitation } = run
  const stop = new AbortController()
  // No `stopSignal`, which stops listening at the first signal: the library that restores the cursor ends a process without listeners.
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.on(name, () => (stop.signal.aborted ? process.exit(EXIT.interrupted) : stop.abort()))
  process.umask(PRIVATE_UMASK)
  const isSeen = process.stdout.isTTY
  const report = options.json ? jsonReport : options.plain || !isSeen ? plainReport() : screenReport()
  const isAsked = !options.yes && !options.json && isSeen && process.stdin.isTTY
  try {
    const session = await openSession({
      ...{ coordinator, invitation, packagedModel: demoModel, signal: stop.signal },
      dataDir: options.dataDir,
      modelPath: options.model ?? null,
      agree: isAsked ? report.ask : async () => true,
      whereabouts: {
        ...(options.listen === undefined ? {} : { listen: options.listen || [] }),
        ...(options.announce === undefined ? {} : { announce: options.announce }),
      },
      mostTokens: options.context ?? null,
      stay: options.stay,
      mirrors: options.mirror,
      team: options.team === false ? null : options.team,
      given: givenLimits(options),
      logger: createStderrLogger(options.logLevel),
      onProgress: report.onProgress,
      onView: report.show,
    }).catch((error: unknown) => {
      // A terminal also sends Ctrl-C to the processes that the start needs.
      if (stop.signal.aborted) return null
      throw error
    })
    if (session === null) return
    await remember(options.dataDir, run)
    const end = await endOf(session, stop.signal)
    report.close(end, session.view())
  } finally {
    report.close(null, null)
  }
}

/** Runs a session to its end. */
async function endOf(session: Session, stopped: AbortSignal): Promise<WorkEnd> {
  const interruption = new Promise<WorkEnd>((resolve) => {
    stopped.addEventListener('abort', () => resolve('closed'), { once: true })
    if (stopped.aborted) resolve('closed')
  })
  try {
    return await Promise.race([session.work, interruption])
  } finally {
    await session.close()
  }
}

/** Reports a node to its owner, or to the program that started it. */
interface Report {
  onProgress(progress: NodeProgress): void
  show(view: () => NodeView): void
  /** Asks whether the owner wants to join the run. */
  ask(plan: JoinPlan, signal: AbortSignal): Promise<boolean>
  /** Idempotent. @param end  null: the node failed */
  close(end: WorkEnd | null, view: NodeView | null): void
}

const jsonReport: Report = {
  onProgress: (progress) => void process.stdout.write(`${JSON.stringify(progress)}\n`),
  show: () => undefined,
  ask: async () => true,
  close: () => undefined,
}

async function isAccepted(signal: AbortSignal): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  // During the question the terminal sends Ctrl-C as a key.
  terminal.once('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  try {
    const answer = await terminal.question('Join this run? [Y/n] ', { signal })
    return !/^\s*n/i.test(answer)
  } finally {
    terminal.close()
  }
}

function plainReport(): Report {
  let pause: string | null = null
  let closed = false
  const say = (line: string): void => void process.stdout.write(`${new Date().toLocaleTimeString('en-GB')}  ${line}\n`)
  return {
    onProgress(progress) {
      const line = progressLine(progress)
      // The coordinator may give the same reason every few seconds for hours.
      const known = progress.type === 'idle' && line === pause
      if (progress.type === 'idle' || progress.type === 'group') pause = line
      if (line !== null && !known) say(line)
    },
    show: () => undefined,
    // The progress has shown the plan.
    ask: (_plan, signal) => isAccepted(signal),
    close(end, view) {
      if (!closed && end !== null && view !== null) say(summaryOf(end, view))
      closed = true
    },
  }
}

function screenReport(): Report {
  const screen = createLiveScreen(process.stdout)
  let closed = false
  return {
    onProgress: () => undefined,
    show: (view) => screen.follow(view),
    async ask(plan, signal) {
      const showAgain = screen.hide()
      process.stdout.write(`${planText(plan)}\n`)
      const takes = await isAccepted(signal)
      if (takes) showAgain()
      return takes
    },
    close(end, view) {
      if (closed) return
      closed = true
      screen.close()
      if (end !== null && view !== null) process.stdout.write(`${summaryOf(end, view)}\n`)
    },
  }
}

const ENDS: Readonly<Record<WorkEnd, string>> = {
  complete: 'the run is complete',
  finished: 'finished',
  closed: 'stopped',
}

function summaryOf(end: WorkEnd, { accepted, refused, credit, waiting }: NodeView): string {
  const kept = waiting === 0 ? '' : `; ${countOf(waiting, 'group')} without a verdict; the next start sends them again`
  return `${ENDS[end]}: ${countOf(accepted, 'group')} accepted, ${refused} refused, credit ${Math.round(credit)}${kept}`
}
