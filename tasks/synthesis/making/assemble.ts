import { nameTask, type Task, type TaskBody } from '../../../rollout/episode/index.js'
import type { SeededRandom } from '../../../servers/kernel/index.js'
import type { Example } from '../../dataset/example.js'
import type { Profile } from '../../dataset/profile.js'
import type { Persona } from '../wording/speech.js'
import type { Script } from './conversation-script.js'
import type { Assignment, SynthesisContext } from './synthesis-context.js'
import { TODAY } from './today.js'
import type { Worded } from './word-conversation.js'

interface Setting {
  readonly environmentSeed: number
  readonly persona: Persona
  readonly profile: Profile
  readonly random: SeededRandom
}

export function buildTask(
  body: Omit<TaskBody, 'environments' | 'stripEnums' | 'system'>,
  { environmentSeed, persona, profile, random }: Setting,
): Task {
  const names = [...new Set(body.toolset.map(({ environment }) => environment))].sort()
  return nameTask({
    ...body,
    environments: names.map((environment) => ({ environment, seed: environmentSeed })),
    ...(random.chance(profile.stripEnums) ? { stripEnums: true } : {}),
    ...(profile.context ? { system: `Today is Monday, 2 March 2026 (${TODAY}). The user is ${persona.role}.` } : {}),
  })
}

export function assemble(
  { index, split }: Assignment,
  task: Task,
  { information, recovery }: Pick<Script, 'information' | 'recovery'>,
  persona: Persona,
  { exchanges, origins }: Worded,
  { profile }: SynthesisContext,
): Example {
  return {
    index,
    split,
    task,
    information,
    recovery,
    persona: persona.role,
    exchanges,
    origins,
    speech: profile.speech,
  }
}
