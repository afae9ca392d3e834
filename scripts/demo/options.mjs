// Options of the demos. This file imports no package, so that a wrong option is reported before the set-up.
import { parseArgs } from 'node:util'

const integer = (standard, least = 1) => ({ type: 'string', standard, least })

/** Options by demo: the standard value, and the least one or the choices. */
const DEMOS = {
  toy: {
    seed: integer(0, 0),
    versions: integer(20),
    nodes: integer(2),
    tasks: integer(600),
    samples: integer(1),
    // Reward presets to train with. The evaluation reports the rewards of all presets.
    reward: { type: 'string', standard: 'solved', choices: ['paper', 'outcome', 'solved', 'orchestration'] },
    gpu: { type: 'boolean', standard: false },
  },
  smollm2: { seed: integer(0, 0), versions: integer(14), tasks: integer(100), samples: integer(8) },
}

/** Returns the demo that the command line names, and its options. @throws Error with what to type instead */
export function readOptions(args = process.argv.slice(2)) {
  const { model } = parseArgs({ args, options: { model: { type: 'string', default: 'toy' } }, strict: false }).values
  const known = Object.hasOwn(DEMOS, model) ? DEMOS[model] : undefined
  if (known === undefined) throw new Error(`--model must be one of ${Object.keys(DEMOS).join(', ')}`)
  const types = Object.fromEntries(Object.entries(known).map(([name, { type }]) => [name, { type }]))
  const flag = { type: 'boolean', default: false }
  const common = { model: { type: 'string' }, built: flag, gate: flag }
  const { values } = parseArgs({ args, options: { ...types, ...common } })
  const read = ([name, { type, standard, least, choices }]) => {
    if (type === 'boolean' || values[name] === undefined) return [name, values[name] ?? standard]
    if (choices !== undefined) {
      if (!choices.includes(values[name])) throw new Error(`--${name} must be one of ${choices.join(', ')}`)
      return [name, values[name]]
    }
    const number = Number(values[name])
    if (!Number.isInteger(number) || number < least)
      throw new Error(`--${name} must be an integer of at least ${least}`)
    return [name, number]
  }
  return { model, built: values.built, gate: values.gate, options: Object.fromEntries(Object.entries(known).map(read)) }
}
