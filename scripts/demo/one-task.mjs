// One held-out task, played at temperature 0 before and after training.
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { readTaskSet } from '../../dist/coordinator/settings/task-set.js'
import { openEngine, openTokenizer } from '../../dist/rollout/engine/index.js'
import {
  createEpisodeRuntime,
  DEFAULT_LIMITS,
  DEFAULT_RULES,
  promptOf,
  rulesNamed,
  runEpisode,
  turnSeeds,
} from '../../dist/rollout/episode/index.js'

/** Longest result of a call that the report shows, in characters. */
const LONGEST_RESULT = 100

/**
 * Plays held-out tasks in the order of the data set, until one was failed with the adapter `before` and is solved with `after`.
 * @param before  undefined: the base alone
 * @returns  its request and both conversations as lines; undefined if there is no such task among the first `limit`
 */
export async function taskThatChanged({ model, before, after, dataset, reward, limit, signal }) {
  const { environments, tasks } = await readTaskSet([dataset], 'held-out', limit)
  const tokenizer = await openTokenizer(model)
  const engine = await openEngine({
    ...{ modelPath: model, threads: 1, contextSize: DEFAULT_LIMITS.maxRolloutTokens, slots: 16, gpu: false },
  })
  try {
    const runtime = createEpisodeRuntime(environments, tokenizer, rulesNamed({ ...DEFAULT_RULES, reward }))
    const policyOf = async (path) => {
      if (path === undefined) return null
      const bytes = await readFile(path)
      return { path, sha256: createHash('sha256').update(bytes).digest('hex') }
    }
    const policies = [await policyOf(before), await policyOf(after)]
    const play = async (some, policy) => {
      await engine.usePolicy(policy, signal)
      const requests = some.map((task) => ({
        prompt: promptOf(task, runtime, DEFAULT_LIMITS),
        seeds: turnSeeds(new Uint8Array(32), 0, DEFAULT_LIMITS),
        temperature: 0,
      }))
      const sources = await engine.openSlots(requests, signal)
      return Promise.all(some.map((task, i) => runEpisode(task, sources[i], runtime, DEFAULT_LIMITS, signal)))
    }
    for (let from = 0; from < tasks.length; from += 16) {
      const some = tasks.slice(from, from + 16)
      const first = await play(some, policies[0])
      const second = await play(some, policies[1])
      const found = some.findIndex((_, i) => !first[i].solved && second[i].solved)
      if (found >= 0) {
        const lines = (rollout) => conversation(rollout, tokenizer)
        return { before: lines(first[found]), after: lines(second[found]) }
      }
    }
    return undefined
  } finally {
    await engine.close()
    await tokenizer.close()
  }
}

/** Returns a rollout as lines `user …`, `call …`, `result …` and `says …`. */
function conversation({ tokens, mask, promptLength }, tokenizer) {
  const prompt = tokenizer.detokenize(tokens.slice(0, promptLength))
  const lines = [`user    ${/<\|im_start\|>user\n([\s\S]*?)<\|im_end\|>/.exec(prompt)[1]}`]
  let from = promptLength
  while (from < tokens.length) {
    let to = from
    while (to < tokens.length && mask[to] === mask[from]) to++
    lines.push(...(mask[from] === 1 ? said : heard)(tokenizer.detokenize(tokens.slice(from, to))))
    from = to
  }
  return lines
}

const said = (text) => {
  const plain = text.replace('<|im_end|>', '').trim()
  const calls = plain.split('<tool_call>').slice(1)
  return calls.length === 0
    ? [`says    ${plain}`]
    : calls.map((call) => `call    ${call.replace('</tool_call>', '').trim()}`)
}

const heard = (text) => {
  const results = [...text.matchAll(/<tool_response>\n([\s\S]*?)\n<\/tool_response>/g)].map(([, json]) => json)
  if (results.length === 0) return [`user    ${/<\|im_start\|>user\n([\s\S]*?)<\|im_end\|>/.exec(text)?.[1] ?? ''}`]
  return results.map((json) => `result  ${json.length > LONGEST_RESULT ? `${json.slice(0, LONGEST_RESULT)}…` : json}`)
}
