import { LRUCache } from 'lru-cache'
import {
  type ConnectionPool,
  createConnectionPool,
  createSeedStateCache,
  type Environment,
  type SeedStateCache,
} from '../../servers/kernel/index.js'
import type { Token, Tokenizer } from '../engine/types.js'
import { type RewardPreset, rewardPreset } from '../reward/index.js'
import { type EnvironmentStates, statesAtEnd } from './environment-states.js'
import { createPromptRenderer, type PromptRenderer } from './prompt.js'
import type { Task } from './task.js'
import type { ToolCallFormat } from './tool-call-format.js'
import { toolCallFormatNamed } from './tool-call-formats/index.js'
import { type Catalogue, offeredAt, type RoutedTool, statedTurns, toolsetOf } from './toolset.js'

/** The rules of a policy's episodes. */
export interface EpisodeRules {
  readonly toolCallFormat: ToolCallFormat
  readonly reward: RewardPreset
}

/** The default rules of a run. */
export const DEFAULT_RULES = { toolCallFormat: 'hermes', reward: 'paper' } as const

/**
 * Returns the rules with these names.
 * @throws EpisodeError `unknown_tool_call_format`; PresetError `unknown_reward`
 */
export function rulesNamed({
  toolCallFormat,
  reward,
}: {
  readonly toolCallFormat: string
  readonly reward: string
}): EpisodeRules {
  return { toolCallFormat: toolCallFormatNamed(toolCallFormat), reward: rewardPreset(reward) }
}

/** The parts of a task that all its rollouts share. */
export interface PreparedTask {
  /** The offered tools, including those of later turns. */
  readonly offered: readonly RoutedTool[]
  /** The user's turns, with the tools that they add. */
  readonly turns: string[]
  /** The first prompt. */
  readonly prompt: readonly Token[]
  /**
   * Returns the states before and after the ground truth. They are computed at the first call, since not every reward needs them.
   * @throws EpisodeError `bad_task`
   */
  expected(): EnvironmentStates
}

/**
 * Episode runtime: the environments, tokenizer and rules that all episodes of a process under one policy share. It owns only memory and
 * needs no closing.
 */
export interface EpisodeRuntime extends EpisodeRules {
  readonly catalogue: Catalogue
  readonly seedStates: SeedStateCache
  readonly tokenizer: Tokenizer
  readonly renderer: PromptRenderer
  readonly connections: ConnectionPool
  /** @throws EpisodeError `bad_task`, `reserved_tag`, `bad_template` */
  prepare(task: Task): PreparedTask
}

/** Number of tasks that stay prepared: preparing one costs more than playing a rollout, and a group has many rollouts. */
const KEPT_TASKS = 32

/**
 * Creates the runtime for episodes in these environments with the tokenizer's model.
 * @throws EpisodeError `bad_template`
 */
export function createEpisodeRuntime(
  environments: Iterable<Environment>,
  tokenizer: Tokenizer,
  { toolCallFormat, reward }: EpisodeRules,
  seedStates: SeedStateCache = createSeedStateCache(),
): EpisodeRuntime {
  const catalogue: Catalogue = new Map([...environments].map((environment) => [environment.name, environment]))
  const renderer = createPromptRenderer(tokenizer, toolCallFormat)
  const prepared = new LRUCache<Task, PreparedTask>({ max: KEPT_TASKS })
  const prepare = (task: Task): PreparedTask => {
    const offered = toolsetOf(task, catalogue)
    const turns = statedTurns(task, offered)
    const prompt = renderer.firstPrompt(offeredAt(offered, 0), turns[0]!, task.system)
    let states: EnvironmentStates | undefined
    return {
      offered,
      turns,
      prompt,
      expected() {
        states ??= statesAtEnd(task, catalogue, seedStates)
        return states
      },
    }
  }
  return {
    catalogue,
    seedStates,
    tokenizer,
    toolCallFormat,
    reward,
    renderer,
    connections: createConnectionPool(),
    prepare(task) {
      let ready = prepared.get(task)
      if (!ready) {
        ready = prepare(task)
        prepared.set(task, ready)
      }
      return ready
    },
  }
}
