import { type SpokenEnvironment, speechOf, type ToolDefinition } from '../../../servers/kernel/index.js'
import type { Node } from '../graph.js'
import { itemAt } from '../item-at.js'
import { withArticle } from './field-words.js'

/** `freeze a card`, `set up a standing order`: short imperatives without any value. */
export function goalsOf({ environment, tool }: Node): string[] {
  const own = speechOf({ environment, tool }).goal
  if (own !== undefined) return [own]
  return [fromDescription(tool.description), fromName(environment, tool)].filter((goal) => goal !== undefined)
}

const MAX_WORDS = 9

function fromDescription(description: string): string | undefined {
  const clause = description
    .split(
      /[.;:,(]| so that | that | which | who | whose | when | unless | while | until | under | in which | from which | not before | from its | by | with (?:its|their|the|how) | and (?:how|what|tell|from|by|name|whether) | or (?:change|mark|answer) | at which /,
    )[0]!
    .trim()
  const words = clause.split(' ')
  if (
    words.length < (/^(find|list|search|show)/i.test(clause) ? 2 : 3) ||
    words.length > MAX_WORDS ||
    /\d|so many|one of its|of one day|one side|one system/.test(clause)
  )
    return undefined
  const verb = itemAt(words, 0).toLowerCase()
  const base = /(?:[^s]s)$/.test(verb) ? verb.replace(/s$/, '') : verb
  const said = [base, ...words.slice(1)]
    .join(' ')
    .replaceAll(/\byour own\b/g, 'my own')
    .replaceAll(/\byours\b/g, 'mine')
    .replaceAll(/\byour\b/g, 'my')
    .replaceAll(/\byou\b/g, 'I')
  return /\b(of|for|to|in|from|on|by|with|at|one|and|or|new|own|not|only|how|what|so)$/.test(said) || /^be\b/.test(said)
    ? undefined
    : said
}

const PLAIN_VERBS =
  /^(cancel|create|book|freeze|unfreeze|schedule|send|edit|discard|recall|forward|snooze|dispute|split|convert|approve|plan|start|end|stop|close|ship|block|label|watch|assign|estimate|restore|rename|move|copy|follow|pin|bookmark|like|share|publish|reopen|report|rate|track|redeem|void|retry|reserve|count|update|upgrade|change|reschedule|repeat|merge|add|save|set|choose|reconnect|replace)$/

/** `create_standing_order` as `create a standing order`, where the object is a thing of the environment. */
function fromName(environment: SpokenEnvironment, tool: ToolDefinition): string | undefined {
  const [verb, ...rest] = tool.name.split('_')
  const object = rest.join(' ')
  const known = Object.values(environment.entities).some(({ noun }) => noun === object)
  return PLAIN_VERBS.test(verb ?? '') && known ? `${verb} ${withArticle(object)}` : undefined
}
