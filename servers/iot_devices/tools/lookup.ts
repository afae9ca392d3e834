import type { Automation, Context, Scene } from '../schema.js'

export const sceneOf = ({ db, fail }: Context, key: string): Scene =>
  db.scenes.get(key) ?? fail('unknown_scene', `There is no scene ${key}.`)

export const automationOf = ({ db, fail }: Context, key: string): Automation =>
  db.automations.get(key) ?? fail('unknown_automation', `There is no automation ${key}.`)
