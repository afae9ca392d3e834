import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DataFolderError } from '../../../coordinator/ledger/disk-losses.js'
import type { SeededRandom } from '../../../servers/kernel/index.js'
import type { ChaosRun } from '../chaos-run.js'
import { type DiskDamage, damage, filesIn, keepFolder } from '../damage.js'
import { meanwhile, type Scenario } from './scenario.js'

// The family `disk-damage`: what a stopped coordinator finds changed in its data folder. Damage to the log is in disks.ts.

const HOWS: readonly DiskDamage[] = ['gone', 'bent', 'cut']
const isStepLost = (error: unknown): boolean => error instanceof DataFolderError && error.code === 'step_lost'

/** The run as it stood when its coordinator was stopped. */
interface Stopped {
  readonly pending: { readonly batchId: string; readonly step: number } | null
  /** The step in force. */
  readonly step: number
}

/** Ends the coordinator, lets `strike` have its disk, and starts it again. @returns  whether the run was still going on */
async function stopped(run: ChaosRun, random: SeededRandom, strike: (now: Stopped) => Promise<void>): Promise<boolean> {
  const { coordinator, simulated: environment } = run
  const isUnderWay = (): boolean => run.state?.current !== undefined && run.state.pendingBatch !== undefined
  if (!(await meanwhile(run, 'a batch', isUnderWay))) return false
  await run.pass(random.int(0, 4500))
  if (!(await meanwhile(run, 'the coordinator', () => run.state?.current !== undefined))) return false
  const { current, pendingBatch = null } = run.state!
  coordinator.restartMs = null
  coordinator.kill()
  await environment.bury()
  await strike({ pending: pendingBatch, step: current!.step })
  coordinator.restartMs = 1000
  coordinator.start()
  return true
}

/** Damages some of these files, each in a way of its own. */
async function strikeSome(run: ChaosRun, random: SeededRandom, files: readonly string[], most: number): Promise<void> {
  for (const path of random.sample(files, Math.min(files.length, random.int(1, most)))) {
    await damage(path, random.pick(HOWS), random.int(0, 99) / 100)
    run.simulated.blow('file damaged')
  }
}

/** Some of these files are damaged, several times in a run. */
const striking =
  (most: number, filesOf: (run: ChaosRun, now: Stopped) => Promise<readonly string[]>): Scenario['befall'] =>
  async (run, random) => {
    for (let times = 0; times < 4; times++)
      if (!(await stopped(run, random, async (now) => strikeSome(run, random, await filesOf(run, now), most)))) return
  }

const jobsOf = async ({ coordinator: { machine } }: ChaosRun, { pending, step }: Stopped): Promise<string[]> => {
  const published = ['adapter.gguf', 'adapter/adapter_model.safetensors', 'adapter/adapter_config.json']
  return [
    ...published.map((name) => join(machine.folder, 'jobs', 'steps', `step-${step}`, name)),
    ...(pending ? await filesIn(machine, `jobs/batches/${pending.batchId}`) : []),
    ...(pending && pending.step > step ? await filesIn(machine, `jobs/steps/step-${pending.step}`) : []),
  ].filter((path) => !path.endsWith('step.json'))
}

export const DAMAGES: readonly Scenario[] = [
  {
    name: 'disk-damage-bodies',
    about:
      'bodies of accepted groups are gone or changed when the coordinator starts: some come back from their authors',
    befall: striking(3, ({ coordinator }) => filesIn(coordinator.machine, 'bodies')),
  },
  {
    name: 'disk-damage-manifests',
    about: 'manifests in service are gone or changed when the coordinator starts',
    befall: striking(3, ({ coordinator }) => filesIn(coordinator.machine, 'manifests')),
  },
  {
    name: 'disk-damage-checkpoint',
    about: 'the checkpoint is gone, cut off or changed when the coordinator starts: it reads its log from the start',
    befall: striking(1, async ({ coordinator: { machine } }) => {
      const files = await filesIn(machine, '.')
      return files.filter((path) => path.endsWith('log.checkpoint'))
    }),
  },
  {
    name: 'disk-damage-adapters',
    about:
      'every published file is gone or changed, and so are the older steps that have it too: volunteers bring it back',
    async befall(run, random) {
      const { machine } = run.coordinator
      for (let times = 0; times < 3; times++) {
        const isStruck = await stopped(run, random, async ({ step }) => {
          for (let old = 0; old < step; old++)
            await rm(join(machine.folder, `jobs/steps/step-${old}`), { recursive: true, force: true })
          const files = await filesIn(machine, 'blobs')
          await strikeSome(run, random, files, files.length)
        })
        if (!isStruck) return
      }
    },
  },
  {
    name: 'disk-damage-spool',
    about:
      'the batch that waits for the trainer, the step it has made, or what was published of the step in force is changed',
    befall: striking(4, jobsOf),
  },
  {
    name: 'disk-damage-everywhere',
    about: 'files of all these kinds at once',
    befall: striking(8, async (run, now) => {
      const { machine } = run.coordinator
      const folders = await Promise.all(['bodies', 'manifests', 'evidence'].map((part) => filesIn(machine, part)))
      return [...folders.flat(), ...(await jobsOf(run, now))]
    }),
  },
  {
    name: 'disk-damage-step',
    about:
      'the record of the step in force is lost: the coordinator says so at each start, until the spool is put back',
    expects: isStepLost,
    async befall(run, random) {
      const { coordinator, simulated: environment } = run
      const { machine } = coordinator
      let putBack = async (): Promise<void> => undefined
      const isStruck = await stopped(run, random, async ({ step, pending }) => {
        putBack = await keepFolder(machine, 'jobs')
        // A batch is pending until its step is published and noted as trained.
        if (pending && pending.step > step)
          await rm(join(machine.folder, `jobs/steps/step-${pending.step}`), { recursive: true, force: true })
        await damage(join(machine.folder, `jobs/steps/step-${step}/step.json`), 'cut', 0.5)
        environment.blow('file damaged')
      })
      if (!isStruck) return
      await run.until('two refusals', () => run.exits.length >= 2, 60_000)
      coordinator.restartMs = null
      coordinator.kill()
      await environment.bury()
      await putBack()
      coordinator.restartMs = 1000
      coordinator.start()
    },
  },
]
