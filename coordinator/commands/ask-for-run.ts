import { cancel, intro, isCancel, log, outro, text } from '@clack/prompts'
import { CodedError } from '../../common/errors/index.js'
import type { ModelFacts } from '../../rollout/engine/index.js'
import { sizeOf } from '../settings/learning-rates.js'

/** Answers from which `run.yaml` of a new run is made, from options or from questions. */
export interface RunAnswers {
  readonly model?: string
  readonly dataset: string
  readonly environments: readonly string[]
  readonly dataDir: string
  readonly modelName?: string
  readonly operator: string
  readonly purpose: string
  readonly port: number
  readonly announce: readonly string[]
  readonly calibration: readonly string[]
}

/** Whether a text is a libp2p address with a TCP port. */
const isAddress = (address: string): boolean => /^\/(dns[46]?|ip[46])\/\S+\/tcp\/\d+/.test(address)

/**
 * Asks on the terminal for the answers that a new run needs. Options are offered as initial values.
 * @param isModel  throws for a file that cannot be the base of a run
 * @returns null: the user cancelled
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
      given.model ?? '',
      reason,
    )
    const facts = isModel(base)
    log.info(
      `${facts.architecture}, ${sizeOf(facts.parameters)} parameters, ${facts.quantisation ?? 'quantisation unknown'}`,
    )
    const name = await ask('Name of the model, for volunteers', given.modelName ?? facts.name ?? '', (typed) =>
      typed === '' ? 'Type a name.' : undefined,
    )
    const dataset = await ask('Folder of the tasks (prove-lab synthesize makes it, now or later)', given.dataset)
    const operator = await ask('Operator of the run, shown in invitations (may be empty)', given.operator)
    const purpose = await ask('Purpose of the run, shown in invitations (may be empty)', given.purpose)
    const announce = await ask(
      'Public addresses of this machine, if they differ from its own, for example /dns4/run.example.org/tcp/4001',
      given.announce.join(' '),
      (typed) =>
        typed === '' || typed.split(/\s+/).every(isAddress) ? undefined : 'Type libp2p addresses, or nothing.',
    )
    outro('All questions are answered.')
    return {
      ...{ ...given, model: base, modelName: name, dataset, operator, purpose },
      announce: announce === '' ? [] : announce.split(/\s+/),
    }
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error
    cancel('Nothing was written.')
    return null
  }
}

class Cancelled extends Error {}
