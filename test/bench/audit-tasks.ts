import type { Task } from '../../rollout/episode/index.js'
import { createSeedStateCache, type Environment } from '../../servers/kernel/index.js'
import { DEMO_PROFILE } from '../../tasks/dataset/index.js'
import { contextFor, streamExamples } from '../../tasks/synthesis/index.js'
import { CATALOGUE } from '../support/spoken-catalogue.js'

/** The environments whose vocabulary the demo model has learned. */
const ENVIRONMENTS = ['banking', 'calendar', 'email', 'issue_tracker']

export function demoTasks(count: number): { tasks: Task[]; environments: Environment[] } {
  const environments = ENVIRONMENTS.map((name) => CATALOGUE.get(name)!)
  const context = contextFor(environments, DEMO_PROFILE, 0, createSeedStateCache())
  return { environments, tasks: Array.from(streamExamples(context, 'train', count), ({ task }) => task) }
}
