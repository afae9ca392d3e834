import { z } from 'zod'
import { addMinutes, timeOf } from '../../kernel/dates.js'
import { ref } from '../../kernel/fields.js'
import type { Table } from '../../kernel/table.js'
import { reminderObstacle } from '../rules.js'
import { upcomingEvents } from '../sampling.js'
import { type Reminder, tool } from '../schema.js'
import { instantOf } from '../time.js'

const CHOICES = [5, 10, 15, 20, 30, 60] as const

/** Removes the user's reminders of an event. */
export function dropReminders(db: { readonly reminders: Table<Reminder> }, event: string): void {
  for (const { reminder } of db.reminders.list((row) => row.event === event)) db.reminders.remove(reminder)
}

export const setReminder = tool({
  name: 'set_reminder',
  description: 'Be reminded so many minutes before an event that you organise or have agreed to attend.',
  input: z.strictObject({
    event: ref('event'),
    minutes: z.int().min(1).max(1440).describe('Minutes before the start'),
  }),
  output: z.object({
    title: z.string(),
    event: ref('event'),
    minutes: z.int(),
    remind_at: z.string().describe('YYYY-MM-DD HH:MM'),
  }),
  annotations: { readOnly: false },
  needs: ['attending'],
  sample: (draw) => {
    const { random, bound } = draw
    for (const { event, ...row } of upcomingEvents(draw, bound.event)) {
      const minutes = bound.minutes ?? random.pick(CHOICES)
      if (!reminderObstacle(draw, { event, ...row }, minutes)) return { event, minutes }
    }
    return null
  },
  run: ({ event: key, minutes }, context) => {
    const { rowOf, unless, db } = context
    const event = rowOf('events', key)
    unless(reminderObstacle(context, event, minutes))
    db.reminders.insert({ reminder: `${key}:${minutes}`, event: key, minutes })
    const at = addMinutes(instantOf(event), -minutes)
    return { ...event, minutes, remind_at: `${at.slice(0, 10)} ${timeOf(at)}` }
  },
})
