import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { defaultPython, trainerFolder } from '../../../coordinator/jobs/python.js'
import { openAdapterLibrary } from '../../../node/adapters/library.js'
import { type MadeStep, makeStep, type StepInput } from '../../../node/rederivation/make-step.js'
import { pulledVersions } from '../../../node/rederivation/pulled-versions.js'
import { type RederiveParts, rederiveVersion } from '../../../node/rederivation/rederive-version.js'
import { createEpisodeRuntime, rulesNamed } from '../../../rollout/episode/index.js'
import { checkPeerId, readKey } from '../../../swarm/index.js'
import { CATALOGUE } from '../../support/catalogue.js'
import { backwardTrainer, filesOf, forgeVersion } from '../../support/dishonest-versions.js'
import type { Attack } from '../attack.js'

/** The operator itself: groups, verdicts and log are honest, and only the update is not. */
export const backwardOperator: Attack = {
  name: 'backward-operator',
  about: 'operates the run, and negates the advantages in the trainer',
  provable: true,
  places: ['rederivation'],
  async attempt(arena, i, signal) {
    const { run, state, honest } = arena
    while (state().publications.length < 2) await honest.deliver(await honest.group(signal))
    const { version } = state().current!
    const folder = join(run.machine.folder, `backward-${i}`)
    await mkdir(join(folder, 'trainer'), { recursive: true })
    const coordinator = { peerId: checkPeerId(run.runId), addresses: [run.address] }
    const library = await openAdapterLibrary({ coordinator, others: [], web: null }, join(folder, 'library'), signal)
    const { user, system } = process.cpuUsage()
    try {
      const pull = pulledVersions(library, join(folder, 'honest'))
      const parts = (name: string, change: Partial<RederiveParts>): RederiveParts => ({
        ...{ run: run.runId, pull, python: defaultPython(), packageFolder: trainerFolder, base: run.model },
        ...{ device: 'cpu', folder: join(folder, name) },
        runtimeOf: (rules) => createEpisodeRuntime(CATALOGUE.values(), arena.runtime.tokenizer, rulesNamed(rules)),
        ...change,
      })
      const made: { input?: StepInput; honest?: MadeStep } = {}
      const make: RederiveParts['make'] = async (input, own, until) => {
        made.input = input
        made.honest = await makeStep(input, own, until)
        return made.honest
      }
      const before = await rederiveVersion(version, parts('again', { make }), signal)
      if (!before.follows)
        return { caught: false, place: null, code: before.fault!.check, costMs: 0, detail: before.fault!.detail }
      const packageFolder = await backwardTrainer(join(folder, 'trainer'))
      const backward = await makeStep(made.input!, parts('backward', { packageFolder }), signal)
      const forged = join(folder, 'published')
      const { privateKey: key } = (await readKey(run.dataDir))!
      await forgeVersion({ from: await pull(version, signal), to: forged, key, files: filesOf(backward) })
      const after = await rederiveVersion(
        version,
        parts('unused', {
          pull: async (number, until) => (number === version ? forged : pull(number, until)),
          make: async () => made.honest!,
        }),
        signal,
      )
      const now = process.cpuUsage()
      const caught = !after.follows
      return {
        caught,
        place: caught ? 'rederivation' : null,
        code: after.fault?.check ?? null,
        costMs: (now.user - user + now.system - system) / 1000,
        detail: after.fault?.detail ?? 'the step follows',
      }
    } finally {
      await library.close()
    }
  },
}
