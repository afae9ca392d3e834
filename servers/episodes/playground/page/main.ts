import { parseTask, type Task } from '../../../../rollout/episode/index.js'
import { PAPER, rewardPreset } from '../../../../rollout/reward/index.js'
import type { Environment } from '../../../kernel/index.js'
import { createTaskRuntime } from '../../episode-runtime.js'
import { EpisodeServerError } from '../../errors.js'
import type { Action } from '../../play.js'
import { openPlayedTask, type PlayedTask } from '../board.js'
import { type Judgement, judgePublished } from '../judge-published.js'
import { PUBLISHED_CHARS, type Published, publishable, readPublished } from '../published.js'
import { argumentsOf, fieldsOf } from './form-fields.js'
import { judgeForm, judgementPage } from './judge-page.js'
import { badge, type Markup } from './markup.js'
import { argumentFields, chooser, playPage } from './play-page.js'

export interface PageParts {
  /** Modules of worlds, each of which exports one. */
  readonly environments: readonly Readonly<Record<string, unknown>>[]
  /** Texts with a JSON document in each line. */
  readonly tasks: string
  readonly attackGroups: string
}

/** A server that does not answer is not waited for longer. */
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
  judged: { readonly published: Published; readonly judgement: Judgement } | null
}

/** Puts the playground into the page. */
export async function start({
  environments: modules,
  tasks: taskLines,
  attackGroups: attackGroupLines,
}: PageParts): Promise<void> {
  const environments = modules.flatMap((module) => Object.values(module).filter(isEnvironment))
  const runtime = createTaskRuntime(new Map(environments.map((environment) => [environment.name, environment])))
  // What the server that gives the page wants of it, where there is one.
  const { tasks: other, reward: scoring = PAPER.name } = document.documentElement.dataset
  const reward = rewardPreset(scoring)
  const tasks = linesOf(other === undefined ? taskLines : await textAt(other)).map((line) =>
    parseTask(JSON.parse(line)),
  )
  const named = (id: string): Task => {
    const task = tasks.find((one) => one.id === id)
    if (!task)
      throw new EpisodeServerError('unknown_task', `this page has no task ${id}: publish it with the task itself`)
    return task
  }
  const attackGroups = linesOf(attackGroupLines)
  const titles = attackGroups.map((line) => readPublished(line, named))
  const main = document.querySelector('main')!
  const view: View = {
    ...{ environment: '', played: null, branch: 'A', against: null },
    ...{ tool: null, attackGroup: null, judged: null },
  }
  const section = (): 'play' | 'judge' => (location.hash === '#judge' ? 'judge' : 'play')

  const playSection = (): Markup[] => {
    const parts = [chooser(tasks, view.environment, view.played?.task.id ?? null)]
    const branch = view.played?.branch(view.branch)
    if (view.played && branch) parts.push(playPage(view.played, branch, view.against, view.tool))
    return parts
  }
  const judgeSection = (): Markup[] => [
    judgeForm(titles, view.attackGroup),
    ...(view.judged ? [judgementPage(view.judged.published, view.judged.judgement)] : []),
  ]

  /** @param focus  selector of what somebody goes on with */
  const render = (focus?: string): void => {
    const at = section()
    const title = at === 'play' ? 'Play a task' : 'Judge a rollout'
    // All that was put into it is escaped, see `Markup`.
    main.innerHTML = `<h1>${title}</h1>${(at === 'play' ? playSection() : judgeSection()).join('')}`
    for (const link of document.querySelectorAll<HTMLElement>('[data-section]')) {
      if (link.dataset.section === at) link.setAttribute('aria-current', 'page')
      else link.removeAttribute('aria-current')
    }
    if (focus !== undefined) main.querySelector<HTMLElement>(focus)?.focus()
  }

  const complain = (error: unknown): void => {
    const text = error instanceof Error ? error.message : String(error)
    const problem = main.querySelector('#problem') ?? problemBelow(main.querySelector('h1')!)
    problem.innerHTML = String(badge('bad', text))
  }

  const act = async (action: Action, focus: string): Promise<void> => {
    await view.played!.act(view.branch, action)
    render(focus)
  }

  const judge = async (text: string): Promise<void> => {
    const published = readPublished(text, named)
    view.judged = { published, judgement: await judgePublished(published, runtime) }
    render('#judged')
  }

  const submitted: Readonly<Record<string, (form: HTMLFormElement) => Promise<void>>> = {
    async open(form) {
      view.played = await openPlayedTask(named(valueIn(form, 'task')), runtime, reward)
      Object.assign(view, { branch: 'A', against: null, tool: null })
      render('#tool')
    },
    async call(form) {
      const tool = view.played!.branch(view.branch)!.episode.offered.find(({ name }) => name === valueIn(form, 'tool'))!
      const filled = argumentsOf(fieldsOf(tool.inputSchema), (name) => valueIn(form, name, 'arg-'))
      if ('problem' in filled) {
        main.querySelector<HTMLElement>(`#arg-${CSS.escape(filled.field)}`)?.focus()
        throw new RangeError(`${filled.field} ${filled.problem}`)
      }
      view.tool = tool.name
      const args = filled.arguments as Extract<Action, { type: 'call' }>['arguments']
      await act({ type: 'call', name: tool.name, arguments: args }, '#tool')
    },
    say: (form) => act({ type: 'say', text: valueIn(form, 'text') }, '#saying'),
    async fetch(form) {
      view.attackGroup = null
      const file = form.querySelector<HTMLInputElement>('#file')!.files?.[0]
      if (file && file.size > PUBLISHED_CHARS) throw new RangeError(`${file.name} is too large to be a rollout`)
      await judge(file ? await file.text() : await textAt(valueIn(form, 'address')))
    },
  }

  const pressed: Readonly<Record<string, (button: HTMLElement) => void | Promise<void>>> = {
    show(button) {
      view.branch = button.dataset.branch!
      if (view.against === view.branch) view.against = null
      render(`[data-act=show][data-branch=${view.branch}]`)
    },
    fork() {
      view.branch = view.played!.fork(view.branch).name
      view.against = null
      render(`[data-act=show][data-branch=${view.branch}]`)
    },
    compare(button) {
      view.against = button.dataset.branch!
      render(`[data-act=compare][data-branch=${view.against}]`)
    },
    save() {
      download(`rollout-${view.branch}.json`, JSON.stringify(publishable(view.played!.branch(view.branch)!), null, 1))
    },
    async attackGroup(button) {
      view.attackGroup = Number(button.dataset.attackGroup)
      await judge(attackGroups[view.attackGroup]!)
      main.querySelector<HTMLElement>(`[data-attack-group="${view.attackGroup}"]`)?.focus({ preventScroll: true })
    },
  }

  main.addEventListener('submit', (event) => {
    event.preventDefault()
    const form = event.target as HTMLFormElement
    submitted[form.dataset.form!]?.(form).catch(complain)
  })
  main.addEventListener('click', (event) => {
    const button = (event.target as HTMLElement).closest<HTMLElement>('[data-act]')
    if (button) Promise.resolve(pressed[button.dataset.act!]?.(button)).catch(complain)
  })
  main.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLSelectElement)) return
    if (target.id === 'world') {
      view.environment = target.value
      render('#world')
    }
    if (target.id === 'tool') {
      view.tool = target.value
      const tool = view.played!.branch(view.branch)!.episode.offered.find(({ name }) => name === view.tool)!
      main.querySelector('#arguments')!.innerHTML = String(argumentFields(tool))
    }
  })
  window.addEventListener('hashchange', () => {
    if (location.hash !== '#content') render('h1')
  })
  render()
}

/** Where there is no form that something is wrong with. */
function problemBelow(title: Element): Element {
  const problem = Object.assign(document.createElement('p'), { id: 'problem', role: 'alert' })
  title.after(problem)
  return problem
}

/** What a form holds under a name. @param prefix  of its id, where names of arguments could be those of other fields */
function valueIn(form: HTMLFormElement, name: string, prefix = ''): string {
  const found = form.querySelector<HTMLInputElement>(
    prefix === '' ? `[name="${name}"]` : `#${CSS.escape(prefix + name)}`,
  )
  return found?.value ?? ''
}

/** @throws Error that says what is wrong with the address, or with what it gave */
async function textAt(address: string): Promise<string> {
  let response: Response
  try {
    response = await fetch(new URL(address, document.baseURI), { signal: AbortSignal.timeout(FETCH_MS) })
  } catch (cause) {
    throw new Error(`${address} cannot be read from here: ${(cause as Error).message}`, { cause })
  }
  if (!response.ok) throw new Error(`${address} answers ${response.status}`)
  if (Number(response.headers.get('content-length') ?? 0) > PUBLISHED_CHARS) throw new Error(`${address} is too large`)
  return response.text()
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  URL.revokeObjectURL(url)
}
