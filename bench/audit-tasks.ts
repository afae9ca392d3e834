import { DEMO_PROFILE } from '../dataset/index.js'
import type { Task } from '../episode/index.js'
import { CATALOGUE } from '../servers/catalogue.js'
import { createWorldCache, type ServerDefinition } from '../servers/kernel/index.js'
import { contextFor, streamExamples } from '../synthesis/index.js'

/** The worlds that the demo model knows. */
const WORLDS = ['banking', 'calendar', 'email', 'issue_tracker']

export function demoTasks(count: number): { tasks: Task[]; servers: ServerDefinition[] } {
  const servers = WORLDS.map((name) => CATALOGUE.get(name)!)
  const context = contextFor(servers, DEMO_PROFILE, 0, createWorldCache())
  return { servers, tasks: Array.from(streamExamples(context, 'train', count), ({ task }) => task) }
}
