import { exampleOf, type RoutedTool } from '../../rollout/episode/index.js'
import { type AssistantText, checkWords, type LoggedCall, type StatedAndInvented } from '../../rollout/reward/index.js'
import type { Example } from './example.js'

/** Evaluates the reference answers of an example as the reward `outcome` does. @param offered  the task's tools */
export function answerWords({ task, exchanges }: Example, offered: readonly RoutedTool[]): StatedAndInvented {
  const log: LoggedCall[] = []
  const results: string[] = []
  const said: AssistantText[] = []
  for (const [turn, { calls, assistant }] of exchanges.entries()) {
    for (const call of calls) {
      log.push({ name: call.name, arguments: call.arguments, ok: call.ok })
      results.push(call.response)
    }
    said.push({ turn, calls: log.length, isAnswer: true, text: assistant })
  }
  return checkWords(exampleOf(task, offered), log, { results, said })
}
