import { createInterface } from 'node:readline/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
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
import { dataFolder, demoModel } from './defaults.js'
import { addLimitOptions, givenLimits } from './limit-options.js'

const contextOption = (text: string): number => {
  const value = Number(text)
  const most = LIMITS.rolloutTokens.value
  if (!Number.isInteger(value) || value < 256 || value > most)
    throw new InvalidArgumentError(`Give an integer from 256 to ${most}.`)
  return value
}

const teamOption = (text: string): string => {
  const team = text.trim().normalize('NFC')
  if (isTeamName(team)) return team
  const most = LIMITS.teamBytes.value
  throw new InvalidArgumentError(`A team is at most ${most} bytes of visible characters, with single blanks between.`)
}

/** `prove-node join`: work for a run. */
export function addJoinCommand(program: Command): void {
  const join = withEnvironmentFolders(program.command('join'))
    .description('Generate rollouts for a run until it is complete, or the node is stopped')
    .argument(...RUN_ARGUMENT, runArgument)
    .option('--data-dir <folder>', 'identity, unsent groups, verdicts, limits and fetched base models', dataFolder)
    .option('--model <gguf>', 'the base model of the run, if you have it already; default: it is fetched')
    .option('--yes', 'take part without being asked first', false)
    .option('--listen <address...>', 'libp2p addresses to listen on; default: a free port, the same at each start')
    .option('--no-listen', 'only dial out')
    .option('--announce <address...>', 'where others can dial this node, for a port that a router forwards to it')
    .option(
      '--context <tokens>',
      'longest rollout that it takes part with, prompt included; default: what the run needs',
      contextOption,
    )
    .option(
      '--team <name>',
      'count for this team on the board, from now on, with all that this key has earned',
      teamOption,
    )
    .option('--no-team', 'count for no team any more')
    .option('--stay', 'go on when the run is complete, for its adapter and in case it is extended', false)
    .option(
      '--mirror',
      'keep everything that the run publishes, for others to pull while the coordinator is away',
      false,
    )
    .option('--plain', 'lines with their time instead of the live screen, as without a terminal', false)
    .option('--json', 'report progress as JSON lines on stdout', false)
    .addOption(
      new Option('--log-level <level>', 'what is logged on stderr')
        .choices(['trace', 'debug', 'info', 'warn', 'error'])
        .default('warn'),
    )
  addLimitOptions(join).action(joinRun)
}

interface JoinOptions {
  dataDir: string
  model?: string
  yes: boolean
  /** False: only dial out. */
  listen?: string[] | false
  announce?: string[]
  /** False: none any more. */
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
  const { coordinator, invitation } = await named()
  const stop = new AbortController()
  // Not `once`: what puts the cursor back ends a process whose signal nobody else hears. Whoever cannot wait asks again.
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.on(name, () => (stop.signal.aborted ? process.exit(130) : stop.abort()))
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
      onProgress: report.tell,
      onView: report.show,
    }).catch((error: unknown) => {
      // A terminal sends Ctrl-C to the processes that the start needs, too.
      if (stop.signal.aborted) return null
      throw error
    })
    if (session === null) return
    const end = await endOf(session, stop.signal)
    report.close(end, session.view())
  } finally {
    report.close(null, null)
  }
}

/** Runs a session to its end. */
async function endOf(session: Session, stopped: AbortSignal): Promise<WorkEnd> {
  const told = new Promise<WorkEnd>((resolve) => {
    stopped.addEventListener('abort', () => resolve('closed'), { once: true })
    if (stopped.aborted) resolve('closed')
  })
  try {
    return await Promise.race([session.work, told])
  } finally {
    await session.close()
  }
}

/** How a volunteer, or a program that started the node, hears of it. */
interface Report {
  tell(progress: NodeProgress): void
  show(view: () => NodeView): void
  /** Whether the volunteer wants to take part. */
  ask(plan: JoinPlan, signal: AbortSignal): Promise<boolean>
  /** Idempotent. @param end  null: it failed */
  close(end: WorkEnd | null, view: NodeView | null): void
}

const jsonReport: Report = {
  tell: (progress) => void process.stdout.write(`${JSON.stringify(progress)}\n`),
  show: () => undefined,
  ask: async () => true,
  close: () => undefined,
}

async function takesPart(signal: AbortSignal): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  // While it reads a line, the terminal sends Ctrl-C as a key.
  terminal.once('SIGINT', () => process.kill(process.pid, 'SIGINT'))
  try {
    const answer = await terminal.question('Take part? [Y/n] ', { signal })
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
    tell(progress) {
      const line = progressLine(progress)
      // Asked every few seconds, the coordinator gives the same reason for hours.
      const known = progress.type === 'idle' && line === pause
      if (progress.type === 'idle' || progress.type === 'group') pause = line
      if (line !== null && !known) say(line)
    },
    show: () => undefined,
    // The plan has been told.
    ask: (_plan, signal) => takesPart(signal),
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
    tell: () => undefined,
    show: (view) => screen.follow(view),
    async ask(plan, signal) {
      const showAgain = screen.hide()
      process.stdout.write(`${planText(plan)}\n`)
      const takes = await takesPart(signal)
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
  const kept = waiting === 0 ? '' : `; ${countOf(waiting, 'group')} without a verdict, offered again at the next start`
  return `${ENDS[end]}: ${countOf(accepted, 'group')} accepted, ${refused} refused, credit ${Math.round(credit)}${kept}`
}
