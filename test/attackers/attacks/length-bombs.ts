import { LIMITS } from '../../../proto/index.js'
import { encodeFields, type Field, fieldsOf, varintOf } from '../../support/wire-mutations.js'
import { groupAttack } from '../group-attack.js'
import { scriptedGroup } from '../scripted-group.js'

const ROLLOUT = 4
const MASK_RUNS = 2

const inRollouts = (body: Uint8Array, change: (fields: Field[]) => Field[]): Uint8Array =>
  encodeFields(
    fieldsOf(body).map((field) =>
      field.number === ROLLOUT ? { ...field, content: encodeFields(change(fieldsOf(field.content))) } : field,
    ),
  )

/** Few bytes that ask for much memory: empty rollouts by the ten thousands, masks of billions, a list within a list. */
const BOMBS: readonly ((body: Uint8Array) => Uint8Array)[] = [
  (body) => {
    const capacity = Math.floor((LIMITS.groupBodyBytes.value - body.length) / 2)
    const empty: Field = { number: ROLLOUT, wire: 2, content: new Uint8Array() }
    return encodeFields([...fieldsOf(body), ...Array.from({ length: capacity }, () => empty)])
  },
  (body) =>
    inRollouts(body, (fields) =>
      fields.map((field) =>
        field.number === MASK_RUNS
          ? { ...field, content: Uint8Array.from([...varintOf(2 ** 31), ...varintOf(2 ** 31)]) }
          : field,
      ),
    ),
  (body) =>
    inRollouts(body, (fields) => [
      ...fields,
      ...Array.from({ length: 50_000 }, (): Field => ({ number: MASK_RUNS, wire: 2, content: new Uint8Array([1]) })),
    ]).subarray(0, LIMITS.groupBodyBytes.value),
]

export const lengthBombs = groupAttack({
  name: 'length-bombs',
  about: 'delivers a small body that would expand to gigabytes',
  provable: true,
  places: ['1'],
  codes: ['malformed', 'out_of_bounds', 'too_large', 'body_mismatch'],
  make: async (arena, work, i, signal) => ({
    rollouts: await scriptedGroup(arena, work, signal),
    forgery: { bytes: BOMBS[i % BOMBS.length]! },
  }),
})
