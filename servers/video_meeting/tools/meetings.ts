import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { addMinutes, clockOf, minutesBetween, minutesOf, timeOf } from '../../kernel/dates.js'
import { common, ref } from '../../kernel/fields.js'
import { fileRecording } from '../changes.js'
import { endObstacle, schedulingObstacle, startObstacle } from '../rules.js'
import { clock, LIMITS, ME, type Meeting, STATUSES, tool } from '../schema.js'
import { FORMATS, TOPICS } from '../words.js'

const date = common('date', z.iso.date().describe('YYYY-MM-DD'))

/** What a meeting's key begins with: the last word of its title. */
const prefixOf = (title: string): string =>
  title
    .toLowerCase()
    .match(/[a-z]+/g)
    ?.at(-1) ?? 'meeting'

/** The time, or the next at a full five minutes, as people say times. */
const nextFive = (time: string): string => clockOf(Math.ceil(minutesOf(time) / 5) * 5)

const findMeetings = tool({
  name: 'find_meetings',
  description: `Find video meetings by words of their title, of any status or of one. Shows your role, the time of one to come and the recording of one that has ended.`,
  input: z.strictObject({
    title: z.string().trim().min(2).max(60).describe('Title or words of it'),
    status: z.enum(STATUSES).describe('Only meetings of this status.').optional(),
  }),
  output: z.object({
    found: z.int(),
    meetings: z.array(
      z.object({
        title: z.string(),
        meeting: ref('meeting'),
        status: z.string(),
        date,
        start: z.string().optional(),
        role: z.string(),
        recording: ref('recording').optional(),
      }),
    ),
  }),
  pages: { meetings: 'longest' },
  annotations: { readOnly: true },
  sample({ db, random, bound, today }) {
    const wanted = ({ status }: Meeting) => status === (bound.status ?? status)
    // Half of the time a meeting with which much can be done: live, due today, or recorded.
    const lively = (row: Meeting) =>
      wanted(row) &&
      (row.status === 'ended'
        ? db.recordings.by('meeting', row.meeting).length > 0
        : row.status === 'live' || row.date === today())
    const meeting =
      (random.chance(0.5) ? choose(db.meetings, random, undefined, lively) : undefined) ??
      choose(db.meetings, random, undefined, wanted)
    if (!meeting) return null
    const title = random.chance(0.2) ? meeting.title.split(' ')[0]! : meeting.title
    return { title, ...(random.chance(0.3) ? { status: meeting.status } : {}), ...bound }
  },
  run({ title, status }, { db }) {
    const words = title.toLowerCase().split(/\s+/)
    const meetings = db.meetings.list((row) => {
      if (row.status !== (status ?? row.status)) return false
      const text = row.title.toLowerCase()
      return words.every((word) => text.includes(word))
    })
    return {
      found: meetings.length,
      meetings: meetings.map((row) => {
        const { title, meeting, status, date, start, role } = row
        const recording = db.recordings.by('meeting', meeting).at(-1)?.recording
        const more = status !== 'ended' ? { start } : recording === undefined ? {} : { recording }
        return { title, meeting, status, date, role, ...more }
      }),
    }
  },
})

const scheduleMeeting = tool({
  name: 'schedule_meeting',
  description:
    'Schedule a video meeting that you host. Your plan limits its length, and it must not overlap another scheduled meeting that you host.',
  input: z.strictObject({
    title: z.string().trim().min(2).max(60).describe('What others see of the meeting.'),
    date,
    start: clock.describe('HH:MM, 24h'),
    minutes: z.int().min(5).max(480).describe('Length'),
  }),
  output: z.object({ title: z.string(), meeting: ref('meeting'), date, start: z.string(), status: z.string() }),
  annotations: { readOnly: false },
  sample(draw) {
    const { db, random, bound, now } = draw
    const title = bound.title ?? `${random.pick(TOPICS)} ${random.pick(FORMATS)}`
    for (let tries = 0; tries < 12; tries++) {
      // Half of them begin so soon that they can be started at once.
      const soon = random.chance(0.5)
      const begin = addMinutes(now(), soon ? random.int(2, 10) : random.int(1, 20) * 24 * 60)
      const plan = {
        date: bound.date ?? begin.slice(0, 10),
        start: bound.start ?? (soon ? nextFive(timeOf(begin)) : clockOf(random.int(32, 72) * 15)),
        minutes: bound.minutes ?? random.pick(soon ? [10, 15] : [15, 20, 30, 40, 45, 60, 90]),
      }
      if (!schedulingObstacle({ db, now }, plan)) return { title, ...plan }
    }
    return null
  },
  run({ title, date, start, minutes }, context) {
    const { unless, db, nextId } = context
    unless(schedulingObstacle(context, { date, start, minutes }))
    const meeting = db.meetings.insert({
      meeting: nextId(prefixOf(title)),
      title,
      date,
      start,
      minutes,
      status: 'scheduled',
      role: 'host',
      live_since: '',
      recorded_since: '',
    })
    const { person } = db.account.get(ME)!
    const { name } = db.people.get(person)!
    const participant = nextId(name.split(' ')[0]!.toLowerCase())
    db.participants.insert({ participant, name, person, meeting: meeting.meeting, role: 'host', place: 'invited' })
    return meeting
  },
})

const startMeeting = tool({
  name: 'start_meeting',
  description: `Start a scheduled meeting that you host, from ${LIMITS.earlyMinutes} minutes before its time until it would be over. Everyone invited comes to the waiting room. You can host one live meeting at a time.`,
  input: z.strictObject({ meeting: ref('meeting') }),
  output: z.object({ title: z.string(), meeting: ref('meeting'), status: z.string(), waiting: z.int() }),
  annotations: { readOnly: false },
  establishes: ['meeting_live'],
  needs: ['hosting_over'],
  sample(draw) {
    const { db, random, bound } = draw
    const meeting = choose(db.meetings, random, bound.meeting, (row) => !startObstacle(draw, row))
    return meeting ? { meeting: meeting.meeting } : null
  },
  run({ meeting: key }, context) {
    const { rowOf, unless, db, now } = context
    const meeting = rowOf('meetings', key)
    unless(startObstacle(context, meeting))
    let waiting = 0
    for (const { participant, role, place } of db.participants.by('meeting', key)) {
      if (place !== 'invited') continue
      db.participants.update(participant, { place: role === 'host' ? 'present' : 'waiting' })
      if (role !== 'host') waiting++
    }
    return { ...db.meetings.update(key, { status: 'live', live_since: now() }), waiting }
  },
})

const endMeeting = tool({
  name: 'end_meeting',
  description:
    'End a live meeting that you host, for everyone. A running recording is stopped and saved. It cannot be started again.',
  input: z.strictObject({ meeting: ref('meeting') }),
  output: z.object({
    title: z.string(),
    // Not a reference: there is little to do with a meeting that has ended.
    meeting: z.string(),
    status: z.string(),
    minutes: z.int(),
    recording: ref('recording').optional(),
  }),
  annotations: { readOnly: false, destructive: true },
  establishes: ['hosting_over'],
  needs: ['meeting_live'],
  sample({ db, random, bound }) {
    const meeting = choose(db.meetings, random, bound.meeting, (row) => !endObstacle(row))
    return meeting ? { meeting: meeting.meeting } : null
  },
  run({ meeting: key }, context) {
    const { rowOf, unless, db, now } = context
    const meeting = rowOf('meetings', key)
    unless(endObstacle(meeting))
    const saved = meeting.recorded_since === '' ? {} : { recording: fileRecording(context, meeting).recording }
    for (const { participant, place } of db.participants.by('meeting', key))
      if (place !== 'removed') db.participants.update(participant, { place: 'left' })
    const ended: Meeting = db.meetings.update(key, { status: 'ended' })
    return { ...ended, minutes: minutesBetween(meeting.live_since, now()), ...saved }
  },
})

export const meetingTools = [findMeetings, scheduleMeeting, startMeeting, endMeeting]
