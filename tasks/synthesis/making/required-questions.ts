import { asksFor, type TaskBody } from '../../../rollout/episode/index.js'
import { itemAt } from '../item-at.js'
import { confirmingWords, wordsFor, wordsForAll } from '../wording/question-words.js'
import type { Script } from './conversation-script.js'
import type { Worded } from './word-conversation.js'

/**
 * Where the script leaves something out, the answer to that turn has to ask for it, in words that name it.
 * @returns `null` when the assistant's own words do not
 */
export function questionsDue({ turns, steps }: Script, { exchanges }: Worded): Pick<TaskBody, 'questions'> | null {
  const questions = turns.flatMap((turn, i) => {
    if (turn.says === 'vague') {
      const { environment, tool } = itemAt(steps, turn.ask)
      return [{ turn: i, words: wordsForAll(environment, tool) }]
    }
    if (turn.says === 'request' && turn.ruled?.rule.demand === 'confirm') return [{ turn: i, words: confirmingWords() }]
    if (turn.says !== 'request' || !turn.withheld) return []
    const { environment, tool } = itemAt(steps, turn.withheld.step)
    return [{ turn: i, words: wordsFor(environment, tool, turn.withheld.field) }]
  })
  if (!questions.every(({ turn, words }) => asksFor(itemAt(exchanges, turn).assistant, words))) return null
  return questions.length === 0 ? {} : { questions }
}
