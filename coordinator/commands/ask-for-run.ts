import { cancel, intro, isCancel, log, outro, text } from '@clack/prompts'
import { CodedError } from '../../common/errors/index.js'
import type { ModelFacts } from '../../rollout/engine/index.js'
import { sizeOf } from '../settings/learning-rates.js'

/** What a new run is made of, as it is given on the command line or answered. */
export interface RunAnswers {
  readonly base?: string
  readonly dataset: string
  readonly environments: readonly string[]
  readonly dataDir: string
  readonly name?: string
  readonly operator: string
  readonly purpose: string
  readonly port: number
  readonly announce: readonly string[]
  readonly calibration: readonly string[]
}

/** Where volunteers reach this machine, if not where it listens: a libp2p address. */
const isAddress = (address: string): boolean => /^\/(dns[46]?|ip[46])\/\S+\/tcp\/\d+/.test(address)

/**
 * Asks on the terminal for what a new run needs; what was given as an option is the answer that is already there.
 * @param isModel  throws for a file that no run can have as its base
 * @returns null: whoever was asked does not want to go on
 */
export async function askForRun(
  given: RunAnswers,
  { isModel }: { readonly isModel: (base: string) => ModelFacts },
): Promise<RunAnswers | null> {
  intro('A new run')
  const reason = (base: string): string | undefined => {
    try {
      isModel(base)
      return undefined
    } catch (error) {
      if (error instanceof CodedError) return error.detail
      throw error
    }
  }
  const ask = async (message: string, initial: string, check?: (answer: string) => string | undefined) => {
    const answer = await text({
      message,
      initialValue: initial,
      validate: (typed) => check?.(typed?.trim() ?? ''),
    })
    if (isCancel(answer)) throw new Cancelled()
    return (answer ?? '').trim()
  }
  try {
    const base = await ask(
      'Base model: a GGUF file, or demo for the small one of this package',
      given.base ?? '',
      reason,
    )
    const facts = isModel(base)
    log.info(
      `${facts.architecture}, ${sizeOf(facts.parameters)} parameters, ${facts.quantisation ?? 'quantisation unknown'}`,
    )
    const name = await ask('Its name, as others will know it', given.name ?? facts.name ?? '', (typed) =>
      typed === '' ? 'A name is needed.' : undefined,
    )
    const dataset = await ask('Folder of the tasks (prove-lab synthesize makes it, now or later)', given.dataset)
    const operator = await ask('Who runs the run? Invitations say it. Empty: nobody is named', given.operator)
    const purpose = await ask('What is it for? Likewise', given.purpose)
    const announce = await ask(
      'Where do volunteers reach this machine, if not at its own addresses? For example /dns4/run.example.org/tcp/4001',
      given.announce.join(' '),
      (typed) =>
        typed === '' || typed.split(/\s+/).every(isAddress) ? undefined : 'Give a libp2p address, or nothing.',
    )
    outro('That is all.')
    return {
      ...{ ...given, base, name, dataset, operator, purpose },
      announce: announce === '' ? [] : announce.split(/\s+/),
    }
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error
    cancel('Nothing was written.')
    return null
  }
}

class Cancelled extends Error {}
