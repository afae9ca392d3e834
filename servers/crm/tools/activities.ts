import { z } from 'zod'
import { choose, pickFrom } from '../../kernel/choose.js'
import { addDays, isWorkday } from '../../kernel/dates.js'
import { common, ref } from '../../kernel/fields.js'
import { contactOf } from '../lookup.js'
import { completionObstacle, isMine, LIMITS, planObstacle, titleOf } from '../rules.js'
import { ACTIVITY_KINDS, type Activity, OUTCOMES, tool } from '../schema.js'
import { workdayAfter } from '../time.js'
import { NOTES_OF } from '../words.js'

const planActivity = tool({
  name: 'plan_activity',
  description: `Plan a call, meeting, demo or visit with a contact of one of your companies, on a workday from today on. At most ${LIMITS.activitiesPerDay} open ones a day, and none with people who do not want to be contacted.`,
  input: z.strictObject({
    crm_contact: ref('crm_contact'),
    kind: z.enum(ACTIVITY_KINDS).describe('What is planned.'),
    date: common(
      'date',
      z.iso.date().describe(`YYYY-MM-DD, Monday to Friday, at most ${LIMITS.planningDays} days ahead.`),
    ),
  }),
  output: z.object({ title: z.string(), activity: ref('activity'), date: common('date', z.string()) }),
  annotations: { readOnly: false },
  establishes: ['activity_planned'],
  sample({ db, random, bound, today }) {
    const kind = bound.kind ?? random.pick(ACTIVITY_KINDS)
    const later = Array.from({ length: 6 }, () => addDays(today(), random.int(1, 28))).filter(isWorkday)
    const soon = isWorkday(today()) && random.chance(0.4)
    const date = bound.date ?? (soon ? today() : pickFrom(random, later))
    if (date === undefined) return null
    const contact = choose(
      db.contacts,
      random,
      bound.crm_contact,
      (row) => row.merged_into === null && planObstacle(db, today(), row, kind, date) === undefined,
    )
    return contact ? { crm_contact: contact.crm_contact, kind, date } : null
  },
  run({ crm_contact, kind, date }, context) {
    const { unless, db, nextId, today } = context
    const contact = contactOf(context, crm_contact)
    unless(planObstacle(db, today(), contact, kind, date))
    return db.activities.insert({
      activity: nextId(kind),
      title: titleOf(kind, contact.name),
      crm_contact,
      rep: db.companies.get(contact.company)!.rep,
      kind,
      date,
      status: 'open',
      note: '',
    })
  },
})

const listActivities = tool({
  name: 'list_activities',
  description: 'List your activities of a day: open, done (with the note that was left) or dropped.',
  input: z.strictObject({ date: common('date', z.iso.date().describe('YYYY-MM-DD.')) }),
  output: z.object({
    found: z.int(),
    activities: z.array(
      z.object({
        title: z.string(),
        activity: ref('activity'),
        status: z.string(),
        note: z.string().optional(),
      }),
    ),
  }),
  pages: { activities: 'long' },
  annotations: { readOnly: true },
  sample({ db, random, bound, today }) {
    // Often today: what is due can be completed.
    const date = bound.date ?? (random.chance(0.4) ? today() : undefined)
    const activity = choose(db.activities, random, undefined, (row) => isMine(db, row))
    return activity ? { date: date ?? activity.date } : null
  },
  run({ date }, { db }) {
    const activities = db.activities.by('date', date).filter((row) => isMine(db, row))
    return {
      found: activities.length,
      activities: activities.map(({ note, ...row }) => ({ ...row, ...(note === '' ? {} : { note }) })),
    }
  },
})

const completeActivity = tool({
  name: 'complete_activity',
  description:
    'Record how an activity of yours went that was due today or before. successful: it is done, and the company counts as reached; missed: it moves to the next workday; refused: it is done, the person is never to be contacted again, and what else was planned with them is dropped.',
  input: z.strictObject({
    activity: ref('activity'),
    outcome: z.enum(OUTCOMES).describe('How it went: successful, missed or refused.'),
    note: z.string().trim().min(3).max(60).describe('What was said, for later.').optional(),
  }),
  output: z.object({
    title: z.string(),
    activity: ref('activity'),
    status: z.string(),
    date: common('date', z.string()),
    crm_contact: ref('crm_contact'),
    moved_to: z.string().optional().describe('The next workday, if nobody was there.'),
    dropped: z.int().describe('Other activities that were dropped.'),
  }),
  annotations: { readOnly: false },
  establishes: ['company_reached'],
  needs: ['activity_planned'],
  sample({ db, random, bound, today }) {
    const activity = choose(
      db.activities,
      random,
      bound.activity,
      (row) => completionObstacle(db, today(), row) === undefined,
    )
    if (!activity) return null
    const outcome =
      bound.outcome ?? random.pick(['successful', 'successful', 'successful', 'missed', 'refused'] as const)
    const note = bound.note ?? (random.chance(0.4) ? random.pick(NOTES_OF[outcome]) : undefined)
    return { activity: activity.activity, outcome, ...(note === undefined ? {} : { note }) }
  },
  run({ activity: key, outcome, note }, { rowOf, unless, db, today }) {
    const activity = rowOf('activities', key)
    unless(completionObstacle(db, today(), activity))
    const patch: Partial<Activity> = outcome === 'missed' ? { date: workdayAfter(today()) } : { status: 'done' }
    const changed = db.activities.update(key, { ...patch, note: note ?? activity.note })
    const contact = db.contacts.get(activity.crm_contact)!
    if (outcome === 'successful') db.companies.update(contact.company, { last_reached: today() })
    let dropped = 0
    if (outcome === 'refused') {
      db.contacts.update(contact.crm_contact, { do_not_contact: true })
      for (const { activity: other, status } of db.activities.by('crm_contact', contact.crm_contact)) {
        if (status !== 'open') continue
        db.activities.update(other, { status: 'dropped' })
        dropped++
      }
    }
    return { ...changed, ...(outcome === 'missed' ? { moved_to: changed.date } : {}), dropped }
  },
})

export const activityTools = [planActivity, listActivities, completeActivity]
