import type { Task } from '../../../rollout/episode/index.js'
import { entityKinds, type SeededRandom, type SpokenEnvironment, speechOf } from '../../../servers/kernel/index.js'
import type { Profile } from '../../dataset/profile.js'
import { type Node, nodeName } from '../graph.js'
import { itemAt } from '../item-at.js'
import type { StatedStep } from './step.js'

export interface ToolsetRequest {
  /** Environments whose tools surround the needed ones. */
  readonly home: readonly SpokenEnvironment[]
  /** Always on offer. */
  readonly needed: readonly Node[]
  /** Never on offer. */
  readonly hidden: ReadonlySet<string>
  readonly distractors: boolean
}

/**
 * Returns the offered tools in random order: the needed ones and others of their environments. For a share of the tasks, it adds unrelated
 * ones of other environments (paper, section 3.2). Names are unique over the toolset.
 */
export function chooseToolset(
  { home, needed, hidden, distractors }: ToolsetRequest,
  environments: readonly SpokenEnvironment[],
  { ownTools, distractors: settings }: Profile,
  random: SeededRandom,
): Task['toolset'] {
  const names = new Set(needed.map(({ tool }) => tool.name))
  const offered = [...needed]
  const add = (candidates: readonly Node[], count: number): void => {
    for (const node of random.shuffle(candidates)) {
      if (count <= 0) return
      if (names.has(node.tool.name) || hidden.has(nodeName(node))) continue
      names.add(node.tool.name)
      offered.push(node)
      count--
    }
  }
  const foreign = distractors && random.chance(settings.share) ? random.int(settings.min, settings.max) : 0
  const own = random.int(ownTools.min, ownTools.max) - (settings.place === 'instead' ? foreign : 0)
  add(nodesOf(home), own - needed.length)
  add(nodesOf(environments.filter((environment) => !home.includes(environment))), foreign)
  return random.shuffle(offered).map(({ environment, tool }) => ({ environment: environment.name, tool: tool.name }))
}

/** Whether so much is hidden that what is left tells it: fewer tools than others have, or, of a small environment, less than half. */
export const isTooSmall = (
  toolset: Task['toolset'],
  home: readonly SpokenEnvironment[],
  { ownTools }: Profile,
): boolean => toolset.length < Math.min(ownTools.min, nodesOf(home).length / 2)

const nodesOf = (environments: readonly SpokenEnvironment[]): Node[] =>
  environments.flatMap((environment) => environment.tools.map((tool) => ({ environment, tool })))

/**
 * Returns tools that must not be offered together with the ground truth. They could serve a look-up that the user takes for granted
 * just as well as the tool of the ground truth. It would then be unclear which of them is right.
 */
export function rivals(steps: readonly StatedStep[], silent: ReadonlySet<number>): Set<string> {
  const own = new Set(steps.map(nodeName))
  const found = new Set<string>()
  for (const index of silent) {
    const { environment, tool } = itemAt(steps, index)
    const used = steps.flatMap(({ bindings }) => bindings.filter(({ source }) => source === index))
    const kinds = new Set(used.flatMap(({ entity }) => entity ?? []))
    for (const other of environment.tools) {
      const name = nodeName({ environment, tool: other })
      if (other === tool || own.has(name) || !other.annotations.readOnly) continue
      if ([...entityKinds(other.output)].some((kind) => kinds.has(kind))) found.add(name)
    }
  }
  return found
}

/**
 * Tools that might pass for one of those in the chain: they serve the same wish, or two words of their names agree. Who is told that one of them
 * is not there would ask why not the other.
 */
export function similarTools(chain: readonly Node[], environments: readonly SpokenEnvironment[]): string[] {
  const wanted = chain.map((node) => ({ wishes: wishesOf(node), words: new Set(wordsOf(node.tool.name)) }))
  return environments
    .flatMap((environment) => environment.tools.map((tool) => ({ environment, tool })))
    .filter((node) => {
      const [wishes, words] = [wishesOf(node), wordsOf(node.tool.name)]
      return wanted.some(
        (one) =>
          words.filter((word) => one.words.has(word)).length >= 2 || wishes.some((wish) => one.wishes.includes(wish)),
      )
    })
    .map(nodeName)
}

const wishesOf = (node: Node): readonly string[] => speechOf(node).wishes ?? []

const wordsOf = (name: string): string[] => name.split('_').map((word) => word.replace(/s$/, ''))
