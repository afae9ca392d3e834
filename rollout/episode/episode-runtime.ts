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

/** What a policy decides about the episodes it is played in. */
export interface EpisodeRules {
  readonly toolCallFormat: ToolCallFormat
  readonly reward: RewardPreset
}

/** The rules that nobody has to name: what a run has unless its operator says otherwise. */
export const DEFAULT_RULES = { toolCallFormat: 'hermes', reward: 'paper' } as const

/**
 * The rules that a policy names.
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

/** What all rollouts of a task have in common. */
export interface PreparedTask {
  /** Those that come later included. */
  readonly offered: readonly RoutedTool[]
  /** The user's turns, with the tools that they bring. */
  readonly turns: string[]
  /** The first prompt. */
  readonly prompt: readonly Token[]
  /**
   * The worlds as the ground truth leaves them, found out at the first asking: not every reward asks.
   * @throws EpisodeError `bad_task`
   */
  expected(): EnvironmentStates
}

/**
 * What an episode needs beside its task and its source of tokens; shared by all episodes of a process under one
 * policy's rules. It holds memory and nothing else: what is not referred to any more needs no closing.
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

/** Tasks that are kept prepared: preparing one costs more than playing a rollout, and a group has many. */
const KEPT_TASKS = 32

/**
 * A stage on which tasks of these servers can be played by the tokenizer's model.
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
