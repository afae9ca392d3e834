import { once } from 'node:events'
import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { EXIT } from '../../../common/cli/index.js'
import { CodedError } from '../../../common/errors/index.js'
import type { RewardPreset } from '../../../rollout/reward/index.js'
import { loadEnvironments } from '../../catalogue.js'
import { withEnvironmentFolders } from '../../environment-option.js'
import { createTaskRuntime } from '../episode-runtime.js'
import { EpisodeServerError } from '../errors.js'
import { readJson } from '../read-json.js'
import { type ScoredRollout, type ScoreParts, scoreRollout } from '../score.js'
import { readTasks } from '../tasks.js'
import { interruption, rewardOption } from './options.js'

export function addScoreCommand(program: Command): void {
  withEnvironmentFolders(program.command('score'))
    .description('Score rollouts: reads one JSON object per line from stdin, writes one per line to stdout')
    .option('--dataset <folder>', 'data set, for task ids; without it, each line must contain its whole task')
    .addOption(rewardOption())
    .action(scoreLines)
}

async function scoreLines({ dataset, reward }: { dataset?: string; reward: RewardPreset }): Promise<void> {
  const stopped = interruption()
  const environments = await loadEnvironments()
  const tasks = dataset === undefined ? null : await readTasks(dataset, environments, stopped)
  const named = (id: string) => {
    if (!tasks)
      throw new EpisodeServerError('unknown_task', `no data set for the task id ${id}: name one with --dataset`)
    return tasks.named(id)
  }
  const parts = { runtime: createTaskRuntime(environments), reward, named }
  let number = 0
  for await (const text of createInterface({ input: process.stdin, signal: stopped })) {
    number += 1
    if (text.trim() === '') continue
    const answer = await score(text, parts).catch((error: unknown) => {
      if (!(error instanceof CodedError)) throw error
      process.exitCode = EXIT.failed
      return { line: number, error: error.code, message: error.detail }
    })
    if (!process.stdout.write(`${JSON.stringify(answer)}\n`)) await once(process.stdout, 'drain')
  }
  // A stop ends the lines like the end of stdin.
  stopped.throwIfAborted()
}

async function score(text: string, parts: ScoreParts): Promise<ScoredRollout> {
  // Programs on Windows write a byte order mark.
  return scoreRollout(readJson(text.replace(/^\uFEFF/, ''), 'the line'), parts)
}
