import type { Task } from '../../rollout/episode/index.js'
import { CATALOGUE } from '../../servers/catalogue.js'
import { createWorldCache, type ServerDefinition } from '../../servers/kernel/index.js'
import { DEMO_PROFILE } from '../../tasks/dataset/index.js'
import { contextFor, streamExamples } from '../../tasks/synthesis/index.js'

/** The worlds that the demo model knows. */
const WORLDS = ['banking', 'calendar', 'email', 'issue_tracker']

export function demoTasks(count: number): { tasks: Task[]; servers: ServerDefinition[] } {
  const servers = WORLDS.map((name) => CATALOGUE.get(name)!)
  const context = contextFor(servers, DEMO_PROFILE, 0, createWorldCache())
  return { servers, tasks: Array.from(streamExamples(context, 'train', count), ({ task }) => task) }
}
