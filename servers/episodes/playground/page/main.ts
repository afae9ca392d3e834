import { type AssistantMessage, type ParsedCall, parseTask, type Task } from '../../../../rollout/episode/index.js'
import { PAPER, type RewardPreset, rewardPreset } from '../../../../rollout/reward/index.js'
import type { Environment } from '../../../kernel/index.js'
import { createTaskRuntime, type TaskRuntime } from '../../episode-runtime.js'
import { EpisodeServerError } from '../../errors.js'
import { type KeptPlay, keptPlayOf, playAgain } from '../kept-play.js'
import { openPlayedTask, type PlayedTask } from '../played-task.js'
import { PUBLISHED_CHARS, type Published, publishable, readPublished } from '../published.js'
import { type VerificationResult, verifyPublished } from '../verify-published.js'
import { argumentsOf, fieldsOf } from './form-fields.js'
import { badge, type Markup } from './markup.js'
import { argumentFields, chooser, playPage } from './play-page.js'
import { verificationPage, verifyForm } from './verify-page.js'

export interface PageParts {
  /** Modules of environments, each of which exports one environment. */
  readonly environments: readonly Readonly<Record<string, unknown>>[]
  /** Tasks, one JSON document per line. */
  readonly tasks: string
  /** Published groups with and without forgeries, one JSON document per line. */
  readonly attackGroups: string
}

/** Key of the task in play in the storage of the tab. */
const KEPT = 'prove-play'
/** Time limit for a fetch. */
const FETCH_MS = 20_000

const isEnvironment = (value: unknown): value is Environment =>
  typeof value === 'object' && value !== null && 'toolsByName' in value
const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '')

interface View {
  environment: string
  played: PlayedTask | null
  branch: string
  against: string | null
  tool: string | null
  attackGroup: number | null
  verified: { readonly published: Published; readonly result: VerificationResult } | null
}

/** The running page: its data and what it shows. */
interface Playground {
  readonly runtime: TaskRuntime
  readonly reward: RewardPreset
  readonly tasks: readonly Task[]
  readonly attackGroups: readonly string[]
  readonly attackTitles: readonly { readonly title: string }[]
  readonly main: HTMLElement
  readonly view: View
  /** @throws EpisodeServerError `unknown_task` */
  named(id: string): Task
}

/** Starts the playground in the page. */
export async function start(parts: PageParts): Promise<void> {
  const playground = await createPlayground(parts)
  const { main } = playground
  const complain = (error: unknown): void => {
    const text = error instanceof Error ? error.message : String(error)
    const problem = main.querySelector('#problem') ?? problemBelow(main.querySelector('h1')!)
    problem.innerHTML = String(badge('bad', text))
  }
  const [forms, buttons] = [formHandlers(playground), buttonHandlers(playground)]
  main.addEventListener('submit', (event) => {
    event.preventDefault()
    const form = event.target as HTMLFormElement
    forms[form.dataset.form!]?.(form).catch(complain)
  })
  main.addEventListener('click', (event) => {
    const button = (event.target as HTMLElement).closest<HTMLElement>('[data-act]')
    if (button) Promise.resolve(buttons[button.dataset.act!]?.(button)).catch(complain)
  })
  main.addEventListener('change', ({ target }) => {
    if (target instanceof HTMLSelectElement) select(playground, target)
  })
  window.addEventListener('hashchange', () => {
    if (location.hash !== '#content') render(playground, 'h1')
  })
  const restored = await restore(playground).catch((error: unknown) => error)
  render(playground)
  if (restored !== undefined) complain(restored)
}

async function createPlayground(parts: PageParts): Promise<Playground> {
  const environments = parts.environments.flatMap((module) => Object.values(module).filter(isEnvironment))
  // A server of the page writes these attributes when it has other tasks or another reward.
  const { tasks: address, reward = PAPER.name } = document.documentElement.dataset
  const lines = linesOf(address === undefined ? parts.tasks : await textAt(address))
  const tasks = lines.map((line) => parseTask(JSON.parse(line)))
  const named = (id: string): Task => {
    const task = tasks.find((one) => one.id === id)
    if (!task)
      throw new EpisodeServerError(
        'unknown_task',
        `this page has no task ${id}: publish the rollout with its whole task`,
      )
    return task
  }
  const attackGroups = linesOf(parts.attackGroups)
  return {
    runtime: createTaskRuntime(new Map(environments.map((environment) => [environment.name, environment]))),
    reward: rewardPreset(reward),
    ...{ tasks, named, attackGroups },
    attackTitles: attackGroups.map((line) => readPublished(line, named)),
    main: document.querySelector('main')!,
    view: {
      ...{ environment: '', played: null, branch: 'A', against: null },
      ...{ tool: null, attackGroup: null, verified: null },
    },
  }
}

const section = (): 'play' | 'verify' => (location.hash === '#verify' ? 'verify' : 'play')

function playSection({ tasks, view }: Playground): Markup[] {
  const parts = [chooser(tasks, view.environment, view.played?.task.id ?? null)]
  const branch = view.played?.branch(view.branch)
  if (view.played && branch) parts.push(playPage(view.played, branch, view.against, view.tool))
  return parts
}

const verifySection = ({ attackTitles, view }: Playground): Markup[] => [
  verifyForm(attackTitles, view.attackGroup),
  ...(view.verified ? [verificationPage(view.verified.published, view.verified.result)] : []),
]

/** Draws the current section. @param focus  selector of the element that gets the focus */
function render(playground: Playground, focus?: string): void {
  const { main } = playground
  const at = section()
  const title = at === 'play' ? 'Play a task' : 'Verify a rollout'
  // All inserted texts are escaped, see `Markup`.
  main.innerHTML = `<h1>${title}</h1>${(at === 'play' ? playSection(playground) : verifySection(playground)).join('')}`
  for (const link of document.querySelectorAll<HTMLElement>('[data-section]')) {
    if (link.dataset.section === at) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
  const { played, branch } = playground.view
  if (played !== null) withStorage((storage) => storage.setItem(KEPT, JSON.stringify(keptPlayOf(played, branch))))
  if (focus !== undefined) main.querySelector<HTMLElement>(focus)?.focus()
}

/** Uses the storage of the tab. In a browser that blocks it the page works, but a reload loses the play. */
function withStorage<T>(use: (storage: Storage) => T): T | undefined {
  try {
    return use(sessionStorage)
  } catch {
    return undefined
  }
}

/** Restores the task that was in play before a reload. The page of another server has other tasks. */
async function restore({ view, tasks, runtime, reward, named }: Playground): Promise<void> {
  const text = withStorage((storage) => storage.getItem(KEPT)) ?? null
  if (text === null) return
  withStorage((storage) => storage.removeItem(KEPT))
  const kept = JSON.parse(text) as KeptPlay
  if (!tasks.some(({ id }) => id === kept.task)) return
  view.played = await playAgain(kept, (id) => openPlayedTask(named(id), runtime, reward))
  view.branch = kept.shown
}

async function verify(playground: Playground, text: string): Promise<void> {
  const published = readPublished(text, playground.named)
  playground.view.verified = { published, result: await verifyPublished(published, playground.runtime) }
  render(playground, '#verified')
}

function formHandlers(playground: Playground): Readonly<Record<string, (form: HTMLFormElement) => Promise<void>>> {
  const { view, main, runtime, reward, named } = playground
  const act = async (message: AssistantMessage, focus: string): Promise<void> => {
    await view.played!.act(view.branch, message)
    render(playground, focus)
  }
  return {
    async open(form) {
      view.played = await openPlayedTask(named(valueIn(form, 'task')), runtime, reward)
      Object.assign(view, { branch: 'A', against: null, tool: null })
      render(playground, '#tool')
    },
    async call(form) {
      const tool = view.played!.branch(view.branch)!.episode.offered.find(({ name }) => name === valueIn(form, 'tool'))!
      const filled = argumentsOf(fieldsOf(tool.inputSchema), (name) => valueIn(form, name, 'arg-'))
      if ('problem' in filled) {
        main.querySelector<HTMLElement>(`#arg-${CSS.escape(filled.field)}`)?.focus()
        throw new RangeError(`${filled.field} ${filled.problem}`)
      }
      view.tool = tool.name
      const call = { name: tool.name, arguments: filled.arguments } as ParsedCall
      await act({ text: valueIn(form, 'next-to-call'), calls: [call] }, '#tool')
    },
    async say(form) {
      const text = valueIn(form, 'text')
      if (text.trim() === '') {
        main.querySelector<HTMLElement>('#saying')?.focus()
        throw new RangeError('the message is empty: write what the assistant says')
      }
      await act({ text, calls: [] }, '#saying')
    },
    async fetch(form) {
      view.attackGroup = null
      const file = form.querySelector<HTMLInputElement>('#file')!.files?.[0]
      if (file && file.size > PUBLISHED_CHARS)
        throw new RangeError(`${file.name} has ${file.size} bytes, and a rollout has at most ${PUBLISHED_CHARS}`)
      await verify(playground, file ? await file.text() : await textAt(valueIn(form, 'address')))
    },
  }
}

function buttonHandlers(
  playground: Playground,
): Readonly<Record<string, (button: HTMLElement) => void | Promise<void>>> {
  const { view, main, attackGroups } = playground
  return {
    show(button) {
      view.branch = button.dataset.branch!
      if (view.against === view.branch) view.against = null
      render(playground, `[data-act=show][data-branch=${view.branch}]`)
    },
    fork() {
      view.branch = view.played!.fork(view.branch).name
      view.against = null
      render(playground, `[data-act=show][data-branch=${view.branch}]`)
    },
    compare(button) {
      view.against = button.dataset.branch!
      render(playground, `[data-act=compare][data-branch=${view.against}]`)
    },
    save() {
      download(`rollout-${view.branch}.json`, JSON.stringify(publishable(view.played!.branch(view.branch)!), null, 1))
    },
    async attack(button) {
      view.attackGroup = Number(button.dataset.attack)
      await verify(playground, attackGroups[view.attackGroup]!)
      main.querySelector<HTMLElement>(`[data-attack="${view.attackGroup}"]`)?.focus({ preventScroll: true })
    },
  }
}

/** Handles a new choice in a list. */
function select(playground: Playground, { id, value }: HTMLSelectElement): void {
  const { view, main } = playground
  if (id === 'environment') {
    view.environment = value
    render(playground, '#environment')
  }
  if (id === 'tool') {
    view.tool = value
    const tool = view.played!.branch(view.branch)!.episode.offered.find(({ name }) => name === value)!
    main.querySelector('#arguments')!.innerHTML = String(argumentFields(tool))
  }
}

/** Adds a place for error messages below the title of a page without a form. */
function problemBelow(title: Element): Element {
  const problem = Object.assign(document.createElement('p'), { id: 'problem', role: 'alert' })
  title.after(problem)
  return problem
}

/** Returns the value of a form field. @param prefix  prefix of the element's id; it keeps argument names apart from other fields */
function valueIn(form: HTMLFormElement, name: string, prefix = ''): string {
  const found = form.querySelector<HTMLInputElement>(
    prefix === '' ? `[name="${name}"]` : `#${CSS.escape(prefix + name)}`,
  )
  return found?.value ?? ''
}

/** Fetches a text. @throws Error if the address cannot be read or the response is too large */
async function textAt(address: string): Promise<string> {
  let response: Response
  try {
    response = await fetch(new URL(address, document.baseURI), { signal: AbortSignal.timeout(FETCH_MS) })
  } catch (cause) {
    throw new Error(
      `${address} cannot be fetched: ${(cause as Error).message}; check the address and its CORS headers`,
      { cause },
    )
  }
  if (!response.ok) throw new Error(`${address} answered with status ${response.status}: check the address`)
  const bytes = Number(response.headers.get('content-length') ?? 0)
  if (bytes > PUBLISHED_CHARS)
    throw new Error(`${address} has ${bytes} bytes, and a rollout has at most ${PUBLISHED_CHARS}`)
  return response.text()
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  URL.revokeObjectURL(url)
}
