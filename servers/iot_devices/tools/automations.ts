import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { conflictOf } from '../scenes.js'
import { type Automation, type IotView, type Obstacle, type Scene, SWITCH, TRIGGERS, tool } from '../schema.js'
import { triggersOf } from '../words.js'

type Trigger = Automation['trigger']

function conflict(db: IotView, scene: Scene, trigger: Trigger): Obstacle | undefined {
  const other = conflictOf(db, scene, trigger)
  return (
    other && {
      code: 'automation_conflict',
      detail: `${other.automation} sets the same devices of ${scene.room} differently at ${trigger}.`,
    }
  )
}

function creationObstacle(db: IotView, scene: Scene, trigger: Trigger): Obstacle | undefined {
  const twin = db.automations.by('scene', scene.scene).find((row) => row.trigger === trigger)
  if (twin) return { code: 'automation_exists', detail: `${twin.automation} runs it at ${trigger} already.` }
  return conflict(db, scene, trigger)
}

const listAutomations = tool({
  name: 'list_automations',
  description: 'List the automations with a trigger: the scene that each runs and whether it is on.',
  input: z.strictObject({ trigger: z.enum(TRIGGERS).describe('When they run.') }),
  output: z.object({
    found: z.int(),
    automations: z.array(
      z.object({ name: z.string(), automation: ref('automation'), scene: ref('scene'), status: z.string() }),
    ),
  }),
  pages: { automations: 'long' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const automation = choose(db.automations, random, undefined)
    return { trigger: bound.trigger ?? automation?.trigger ?? random.pick(TRIGGERS) }
  },
  run({ trigger }, { db }) {
    const automations = db.automations.by('trigger', trigger)
    return { found: automations.length, automations: [...automations] }
  },
})

const createAutomation = tool({
  name: 'create_automation',
  description:
    'Make a scene run by itself at sunrise, sunset, arrival (home mode), departure (away mode) or bedtime (night mode). It must not set a device differently from another automation that is on at the same trigger.',
  input: z.strictObject({ scene: ref('scene'), trigger: z.enum(TRIGGERS).describe('When the scene is to run.') }),
  output: z.object({ name: z.string(), automation: ref('automation'), scene: z.string(), status: z.string() }),
  annotations: { readOnly: false },
  establishes: ['automation_on'],
  needs: ['scene_saved', 'conflict_removed'],
  sample({ db, random, bound }) {
    const possible = (row: Scene) =>
      (bound.trigger === undefined ? triggersOf(row.name) : [bound.trigger]).filter(
        (trigger) => !creationObstacle(db, row, trigger),
      )
    const scene = choose(db.scenes, random, bound.scene, (row) => possible(row).length > 0)
    return scene ? { scene: scene.scene, trigger: random.pick(possible(scene)) } : null
  },
  run({ scene: key, trigger }, { rowOf, unless, db, nextId }) {
    const scene = rowOf('scenes', key)
    unless(creationObstacle(db, scene, trigger))
    return db.automations.insert({
      automation: nextId(trigger),
      name: `${scene.name} at ${trigger}`,
      scene: key,
      trigger,
      status: 'on',
    })
  },
})

const switchAutomation = tool({
  name: 'switch_automation',
  description:
    'Switch an automation on or off. It cannot be switched on while another one at the same trigger sets a device differently.',
  input: z.strictObject({
    automation: ref('automation'),
    status: z.enum(SWITCH).describe('Whether the automation is to be on or off.'),
  }),
  output: z.object({ name: z.string(), automation: ref('automation'), status: z.string() }),
  annotations: { readOnly: false, idempotent: true },
  establishes: ['conflict_removed'],
  needs: ['automation_on'],
  sample({ db, random, bound }) {
    const possible = (row: Automation) =>
      (bound.status === undefined ? SWITCH : [bound.status]).filter(
        (status) =>
          status !== row.status && (status === 'off' || !conflict(db, db.scenes.get(row.scene)!, row.trigger)),
      )
    const automation = choose(db.automations, random, bound.automation, (row) => possible(row).length > 0)
    return automation ? { automation: automation.automation, status: random.pick(possible(automation)) } : null
  },
  run({ automation: key, status }, { rowOf, unless, db }) {
    const automation = rowOf('automations', key)
    if (status === 'on' && automation.status === 'off')
      unless(conflict(db, db.scenes.get(automation.scene)!, automation.trigger))
    return db.automations.update(key, { status })
  },
})

export const automationTools = [listAutomations, createAutomation, switchAutomation]
