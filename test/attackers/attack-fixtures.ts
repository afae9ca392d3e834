import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { generateKeyPairFromSeed } from '@libp2p/crypto/keys'
import type { GroupBody, Lease } from '../../proto/index.js'
import type { Tokenizer } from '../../rollout/engine/index.js'
import {
  createEpisodeRuntime,
  DEFAULT_RULES,
  parseTask,
  type Rollout,
  rulesNamed,
  type Task,
} from '../../rollout/episode/index.js'
import { describePublishedGroup } from '../../rollout/verification/index.js'
import { CATALOGUE } from '../support/catalogue.js'
import type { Arena } from './arena.js'
import { FORGED_RESULTS } from './attacks/forged-results.js'
import { FORGED_REWARDS } from './attacks/forged-rewards.js'
import { type Forgery, packGroup, type Work } from './group-work.js'
import type { Participant } from './participant.js'
import { scriptedGroup } from './scripted-group.js'

/**
 * Groups for the playground to judge in front of everybody: an honest one, and the same with the lies of the attackers here. They are
 * signed by a key that anybody can make, for a run that there is not.
 */

const RUN = 'prove-exhibit'
const ROLLOUTS = [0, 1, 8, 9]
const HEX = (text: string): string => createHash('sha256').update(text).digest('hex')

interface Lie {
  readonly title: string
  readonly about: string
  readonly caught: readonly string[]
  readonly forgery?: Forgery
  /** What somebody on the way makes of the signed bytes and the body. */
  readonly onTheWay?: (group: { readonly sealed: Uint8Array; readonly body: Uint8Array }) => {
    readonly sealed: Uint8Array
    readonly body: Uint8Array
  }
}

/** A change of the first rollout that made a call. */
const ofFirst =
  (forge: (typeof FORGED_RESULTS)[number]) =>
  (body: GroupBody): GroupBody => {
    const index = body.rollouts.findIndex(({ calls }) => calls.length > 0)
    return { ...body, rollouts: body.rollouts.with(index, forge(body.rollouts[index]!)) }
  }

const LIES: readonly Lie[] = [
  {
    title: 'An honest group',
    about:
      'Two rollouts that do what the user asks, and two that shrug. Everything that can be told in a browser holds.',
    caught: [],
  },
  {
    title: 'A better reward',
    about: 'The first rollout claims a quarter more than it is worth, in the body and in what is signed.',
    caught: ['reward_mismatch'],
    forgery: FORGED_REWARDS[0]!,
  },
  {
    title: 'Rewards in another order',
    about: 'The announcement gives the rewards of the diligent to the idle; the body is honest.',
    caught: ['reward_mismatch'],
    forgery: FORGED_REWARDS[1]!,
  },
  {
    title: 'Perfect parts',
    about: 'The totals are right, and each part of them is claimed to be perfect.',
    caught: ['reward_mismatch'],
    forgery: FORGED_REWARDS[2]!,
  },
  {
    title: 'An answer that no tool gave',
    about: 'The call log says that every call was answered with “done”.',
    caught: ['replay_mismatch'],
    forgery: { body: ofFirst(FORGED_RESULTS[0]!) },
  },
  {
    title: 'A state that nobody reached',
    about: 'The worlds are claimed to have ended otherwise than the calls leave them.',
    caught: ['state_mismatch'],
    forgery: { body: ofFirst(FORGED_RESULTS[2]!) },
  },
  {
    title: 'Words in a node’s mouth',
    about: 'Somebody on the way has changed one bit of what the node signed.',
    caught: ['bad_signature'],
    // A byte of the nonce: its form stays right.
    onTheWay: ({ sealed, body }) => ({ sealed: flipped(sealed, Buffer.from(NONCE, 'hex')), body }),
  },
  {
    title: 'Another body',
    about: 'The announcement is genuine, and the body that is shown with it is not the announced one.',
    caught: ['body_mismatch'],
    // The duration at its end: nothing else of it is wrong.
    onTheWay: ({ sealed, body }) => ({ sealed, body: body.with(-1, body.at(-1)! ^ 1) }),
  },
]

const NONCE = HEX('nonce').slice(0, 32)

function flipped(bytes: Uint8Array, part: Uint8Array): Uint8Array {
  const at = Buffer.from(bytes).indexOf(part)
  return bytes.with(at, bytes[at]! ^ 1)
}

/** @param tasks  a file with a task in each line; the first is played */
export async function makeAttackGroups(tasks: string, tokenizer: Tokenizer, signal: AbortSignal): Promise<object[]> {
  const task = parseTask(JSON.parse((await readFile(tasks, 'utf8')).split('\n')[0]!))
  const runtime = createEpisodeRuntime(CATALOGUE.values(), tokenizer, rulesNamed(DEFAULT_RULES))
  const key = await generateKeyPairFromSeed('Ed25519', createHash('sha256').update('exhibits').digest())
  const lease = { leaseId: HEX('lease').slice(0, 32), taskId: task.id, policyId: HEX('policy') } as Lease
  const all = await scriptedGroup({ runtime } as Arena, { task } as Work, signal)
  const rollouts = ROLLOUTS.map((i) => all[i]!)
  return Promise.all(
    LIES.map((stated) => attackGroupOf(stated, { task, lease, key, rollouts, reward: runtime.reward.name })),
  )
}

async function attackGroupOf(
  { title, about, caught, forgery = {}, onTheWay = (group) => group }: Lie,
  {
    task,
    lease,
    key,
    rollouts,
    reward,
  }: { task: Task; lease: Lease; key: Participant['key']; rollouts: readonly Rollout[]; reward: string },
): Promise<object> {
  const node = { key, host: { runId: RUN }, bodies: new Map<string, Uint8Array>() } as unknown as Participant
  const { announce = (announcement) => announcement } = forgery
  const packed = await packGroup({ node, lease }, rollouts, {
    ...forgery,
    inline: false,
    announce: (announcement) => announce({ ...announcement, nonce: NONCE }),
  })
  const { sealed, body } = onTheWay(packed)
  // With which codes it must be found wrong; none: it is honest.
  return { ...describePublishedGroup({ title, about, task, reward, run: RUN, announcement: sealed, body }), caught }
}
