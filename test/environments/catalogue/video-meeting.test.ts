import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { generateSeedState, Session } from '../../../servers/kernel/session.js'
import { videoMeeting } from '../../../servers/video_meeting/index.js'
import { peopleNamed, recordingObstacle, startObstacle, storageLeft } from '../../../servers/video_meeting/rules.js'
import {
  LIMITS,
  ME,
  type Meeting,
  type Participant,
  type Plan,
  TERMS,
  type VideoView,
} from '../../../servers/video_meeting/schema.js'
import { overlap } from '../../../servers/video_meeting/time.js'
import { checkEnvironmentContract } from '../../support/environment-contract.js'
import { type Call, fails, succeed } from '../../support/session-calls.js'

const viewOf = (session: Session) => session.db as unknown as VideoView
const scenery = (session: Session) => ({ db: viewOf(session), now: () => session.now() })
const planOf = (session: Session): Plan => viewOf(session).account.get(ME)!.plan

/** A session of the first seed that fits. */
function openWhere(fits: (session: Session) => boolean): Session {
  for (let seed = 1; seed < 400; seed++) {
    const session = Session.open(generateSeedState(videoMeeting, seed))
    if (fits(session)) return session
  }
  throw new Error('no seed fits')
}

function meeting(session: Session, fits: (row: Meeting) => boolean): Meeting {
  const found = viewOf(session).meetings.find(fits)
  if (!found) throw new Error('no such meeting in this seed')
  return found
}
const is =
  (status: Meeting['status'], role: Meeting['role'] = 'host') =>
  (row: Meeting) =>
    row.status === status && row.role === role
const onMeeting = (tool: string, row: Meeting): Call => [tool, { meeting: row.meeting }]
const start = (row: Meeting) => onMeeting('start_meeting', row)
const end = (row: Meeting) => onMeeting('end_meeting', row)
const record = (row: Meeting) => onMeeting('start_recording', row)
const stop = (row: Meeting) => onMeeting('stop_recording', row)
const act = ({ participant }: Participant, action: string): Call => ['manage_participant', { participant, action }]
const plan = (date: string, at: string, minutes = 30): Call => [
  'schedule_meeting',
  { title: 'Budget Forum', date, start: at, minutes },
]

const cast = (session: Session, row: Meeting) => viewOf(session).participants.list((one) => one.meeting === row.meeting)
const guest = (session: Session, row: Meeting, fits: (one: Participant) => boolean) => {
  const found = cast(session, row).find(fits)
  if (!found) throw new Error('no such participant in this seed')
  return found
}
const at =
  (place: Participant['place'], role: Participant['role'] = 'attendee') =>
  (row: Participant) =>
    row.place === place && row.role === role
const refuses = (session: Session) => (row: Participant) => !viewOf(session).people.get(row.person)!.consents

/** The meeting that the user can start, started. */
function goLive(session: Session): Meeting {
  const row = meeting(session, (one) => !startObstacle(scenery(session), one))
  succeed(session, ...start(row))
  return viewOf(session).meetings.get(row.meeting)!
}

/** The names of people who do not take part in the meeting. */
function strangers(session: Session, row: Meeting): string[] {
  const known = new Set(cast(session, row).map(({ person }) => person))
  return viewOf(session)
    .people.list(({ person }) => !known.has(person))
    .map(({ name }) => name)
}
const invite = (row: Meeting, name: string): Call => ['invite_participant', { meeting: row.meeting, name }]

const isIdle = (session: Session) =>
  viewOf(session).meetings.find(({ status, role }) => status === 'live' && role === 'host') === undefined
const nobodyRecorded = (session: Session) =>
  viewOf(session).meetings.find(({ recorded_since }) => recorded_since !== '') === undefined
const hasSpace = (session: Session) => storageLeft(viewOf(session)) >= LIMITS.storageToStart
const own = (session: Session) =>
  viewOf(session).recordings.find(
    ({ held, meeting: key }) => !held && viewOf(session).meetings.get(key)!.role === 'host',
  )
/** Deletes a recording, so that there is space for another. */
const makeSpace = (session: Session) =>
  succeed(session, 'delete_recording', { recording: own(session)!.recording }).freed as number
const first = (session: Session) => meeting(session, (row) => !startObstacle(scenery(session), row))

/** Has what the failures are provoked with: nobody hosting, no recording, hardly any storage left, a mixed crowd in the meeting that can be started. */
const isRich = (session: Session): boolean => {
  if (planOf(session) !== 'team' || !isIdle(session) || !nobodyRecorded(session) || hasSpace(session)) return false
  if (!own(session)) return false
  const crowd = cast(session, first(session)).filter(({ role }) => role === 'attendee')
  const unwilling = crowd.filter(refuses(session)).length
  const room = TERMS.team.capacity - cast(session, first(session)).length
  return crowd.length >= 5 && unwilling === 1 && room > 0
}

checkEnvironmentContract(videoMeeting, {
  sampleFloor: 1,
  provokeSeed: openWhere(isRich).seedState.seed,
  provoke: {
    unknown_meeting: () => ['start_meeting', { meeting: 'seance-7' }],
    unknown_participant: () => ['manage_participant', { participant: 'ghost-7', action: 'admit' }],
    unknown_recording: () => ['delete_recording', { recording: 'recording-7' }],
    unknown_person: (s) => invite(first(s), 'Nobody Known'),
    ambiguous_name: (s) => {
      const firsts = viewOf(s)
        .people.list()
        .map(({ name }) => name.split(' ')[0]!)
      return invite(first(s), firsts.find((name, i) => firsts.indexOf(name) < i)!)
    },
    host_only: (s) => end(meeting(s, is('live', 'cohost'))),
    moderator_only: (s) => record(meeting(s, is('live', 'attendee'))),
    in_the_past: () => plan('2026-03-02', '08:30'),
    too_far_ahead: () => plan('2026-06-30', '10:00'),
    too_long: () => plan('2026-03-20', '10:00', TERMS.team.minutes + 1),
    ends_after_midnight: () => plan('2026-03-20', '23:45'),
    time_conflict: (s) => {
      succeed(s, ...plan('2026-03-28', '10:00'))
      return plan('2026-03-28', '10:29')
    },
    too_early: (s) => {
      const { meeting: key } = succeed(s, ...plan('2026-03-28', '10:00'))
      return ['start_meeting', { meeting: key }]
    },
    missed: (s) => {
      const due = first(s)
      for (let minute = 0; minute < due.minutes; minute++)
        succeed(s, ...plan(`2026-04-${10 + (minute % 20)}`, minute < 20 ? '09:00' : '10:00'))
      return start(due)
    },
    already_live: (s) => start(goLive(s)),
    already_hosting: (s) => {
      goLive(s)
      return start(meeting(s, (row) => is('scheduled')(row) && row.date === '2026-03-02' && row.start === '09:15'))
    },
    not_live: (s) => end(first(s)),
    meeting_ended: (s) => start(meeting(s, is('ended'))),
    already_invited: (s) => invite(first(s), cast(s, first(s))[1]!.name),
    was_removed: (s) => {
      const live = goLive(s)
      const out = guest(s, live, at('waiting'))
      succeed(s, ...act(out, 'remove'))
      return invite(live, out.name)
    },
    meeting_full: (s) => {
      const row = first(s)
      const names = strangers(s, row)
      while (cast(s, row).length < TERMS.team.capacity) succeed(s, ...invite(row, names.pop()!))
      return invite(row, names.pop()!)
    },
    not_waiting: (s) => {
      const in_ = guest(s, goLive(s), at('waiting'))
      succeed(s, ...act(in_, 'admit'))
      return act(in_, 'admit')
    },
    not_present: (s) => act(guest(s, goLive(s), at('waiting')), 'hold'),
    host_untouchable: (s) => act(guest(s, goLive(s), at('present', 'host')), 'remove'),
    already_cohost: (s) => {
      const raised = guest(s, goLive(s), at('waiting'))
      succeed(s, ...act(raised, 'admit'))
      succeed(s, ...act(raised, 'promote'))
      return act(raised, 'promote')
    },
    not_cohost: (s) => act(guest(s, goLive(s), at('waiting')), 'demote'),
    too_many_cohosts: (s) => {
      const live = goLive(s)
      const crowd = cast(s, live).filter(at('waiting'))
      for (const one of crowd) succeed(s, ...act(one, 'admit'))
      const cohosts = () => cast(s, live).filter(({ role }) => role === 'cohost').length
      while (cohosts() < LIMITS.cohosts) succeed(s, ...act(crowd.pop()!, 'promote'))
      return act(crowd.pop()!, 'promote')
    },
    consent_missing: (s) => {
      const live = goLive(s)
      makeSpace(s)
      succeed(s, ...record(live))
      return act(guest(s, live, refuses(s)), 'admit')
    },
    already_recording: (s) => {
      const live = goLive(s)
      makeSpace(s)
      succeed(s, ...record(live))
      return record(live)
    },
    not_recording: (s) => stop(goLive(s)),
    storage_full: (s) => record(goLive(s)),
    recording_held: (s) => [
      'delete_recording',
      { recording: viewOf(s).recordings.find(({ held }) => held)!.recording },
    ],
  },
})

test('a meeting starts with everyone in the waiting room and ends with nobody in it', () => {
  const session = openWhere(isIdle)
  const invited = cast(session, first(session)).length - 1
  const due = first(session)
  assert.is(succeed(session, ...start(due)).waiting, invited)
  const live = viewOf(session).meetings.get(due.meeting)!
  assert.equal([live.status, live.live_since], ['live', '2026-03-02T09:00:00Z'])
  const guests = cast(session, live).filter(at('waiting'))
  for (const one of guests) succeed(session, ...act(one, 'admit'))
  assert.is(succeed(session, ...end(live)).minutes, guests.length + 1)
  assert.ok(cast(session, live).every(({ place }) => place === 'left'))
  fails(session, 'meeting_ended', ...start(live))
})

test('only one meeting is hosted at a time: the next can start once the first has ended', () => {
  const session = openWhere((s) => !isIdle(s))
  const next = meeting(session, (row) => is('scheduled')(row) && row.start === '09:00' && row.date === '2026-03-02')
  fails(session, 'already_hosting', ...start(next))
  succeed(session, ...end(meeting(session, is('live'))))
  assert.is(succeed(session, ...start(next)).status, 'live')
})

test('a recording exists only after it was stopped, and takes storage by the minute', () => {
  const session = openWhere((s) => isIdle(s) && nobodyRecorded(s) && hasSpace(s))
  const live = goLive(session)
  const before = viewOf(session).recordings.count()
  const left = storageLeft(viewOf(session))
  succeed(session, ...record(live))
  assert.is(viewOf(session).recordings.count(), before)
  succeed(session, ...plan('2026-04-20', '10:00'))
  const stated = succeed(session, ...stop(live))
  assert.equal([stated.minutes, stated.megabytes], [2, 2 * LIMITS.storagePerMinute])
  assert.is(stated.storage_left, left - 2 * LIMITS.storagePerMinute)
  assert.is(viewOf(session).recordings.get(stated.recording as string)?.title, live.title)
  fails(session, 'not_recording', ...stop(live))
})

test('ending a meeting saves the recording that runs', () => {
  const session = openWhere((s) => isIdle(s) && nobodyRecorded(s) && hasSpace(s))
  const live = goLive(session)
  succeed(session, ...record(live))
  const { recording } = succeed(session, ...end(live))
  assert.is(viewOf(session).meetings.get(live.meeting)!.recorded_since, '')
  const found = succeed(session, 'find_meetings', { title: live.title }).meetings as { recording?: string }[]
  assert.ok(found.some((row) => row.recording === recording))
  assert.is(succeed(session, 'delete_recording', { recording }).freed, LIMITS.storagePerMinute)
})

test('a recording never takes more storage than is left', () => {
  const session = openWhere((s) => planOf(s) === 'free' && isIdle(s) && nobodyRecorded(s) && hasSpace(s))
  const live = goLive(session)
  const left = storageLeft(viewOf(session))
  succeed(session, ...record(live))
  for (let day = 0; day < 12; day++) succeed(session, ...plan(`2026-04-${10 + day}`, '10:00'))
  assert.is(succeed(session, ...stop(live)).megabytes, left)
  assert.ok(left < 13 * LIMITS.storagePerMinute)
  assert.equal(session.violations(), [])
})

test('someone who refuses is kept out of a recording, or keeps the meeting from being recorded', () => {
  const mixed = (s: Session) => cast(s, first(s)).some((row) => row.role !== 'host' && refuses(s)(row))
  const session = openWhere((s) => isIdle(s) && nobodyRecorded(s) && hasSpace(s) && mixed(s))
  const live = goLive(session)
  const unwilling = guest(session, live, refuses(session))
  succeed(session, ...act(unwilling, 'admit'))
  fails(session, 'consent_missing', ...record(live))
  succeed(session, ...act(unwilling, 'hold'))
  succeed(session, ...record(live))
  fails(session, 'consent_missing', ...act(unwilling, 'admit'))
  succeed(session, ...stop(live))
  succeed(session, ...act(unwilling, 'admit'))
})

test('storage that is full has room again when a recording is deleted', () => {
  const session = openWhere(isRich)
  const live = goLive(session)
  fails(session, 'storage_full', ...record(live))
  const left = storageLeft(viewOf(session))
  const freed = makeSpace(session)
  assert.is(succeed(session, ...record(live)).storage_left, left + freed)
})

test('a co-host admits people but leaves host and co-hosts, and the end of the meeting, to the host', () => {
  const crowded = (s: Session) => {
    const row = meeting(s, is('live', 'cohost'))
    const guests = cast(s, row)
    return row.recorded_since === '' && guests.some(at('waiting')) && guests.some(at('present', 'host'))
  }
  const session = openWhere(crowded)
  const live = meeting(session, is('live', 'cohost'))
  const one = guest(session, live, at('waiting'))
  assert.is(succeed(session, ...act(one, 'admit')).place, 'present')
  fails(session, 'host_only', ...act(one, 'promote'))
  fails(session, 'host_untouchable', ...act(guest(session, live, at('present', 'host')), 'hold'))
  fails(session, 'host_only', ...end(live))
})

test('an attendee can only look', () => {
  const session = openWhere(() => true)
  const live = meeting(session, is('live', 'attendee'))
  assert.is(succeed(session, 'list_participants', { meeting: live.meeting }).found, cast(session, live).length)
  fails(session, 'moderator_only', ...invite(live, strangers(session, live)[0]!))
  assert.is(recordingObstacle(viewOf(session), live)?.code, 'moderator_only')
})

test('whoever is invited while a meeting is live comes to its waiting room', () => {
  const session = openWhere((s) => isRich(s))
  const name = strangers(session, first(session))[0]!
  const early = session.fork()
  assert.is(succeed(early, ...invite(first(early), name)).place, 'invited')
  const stated = succeed(session, ...invite(goLive(session), name.toLowerCase()))
  assert.equal([stated.name, stated.place], [name, 'waiting'])
})

test('a whole name means one person even where another has the same first name', () => {
  const session = openWhere(() => true)
  const view = viewOf(session)
  for (const { name } of view.people.list()) assert.is(peopleNamed(view, name.toUpperCase()).length, 1)
  assert.ok(view.people.find(({ name }) => peopleNamed(view, name.split(' ')[0]!).length > 1))
  assert.is(peopleNamed(view, 'an').length, 0)
})

test('meetings overlap when they share a minute of the same day', () => {
  const at10 = { date: '2026-03-05', start: '10:00', minutes: 30 }
  assert.ok(overlap(at10, { ...at10, start: '10:29' }))
  assert.not.ok(overlap(at10, { ...at10, start: '10:30' }))
  assert.not.ok(overlap(at10, { ...at10, date: '2026-03-06' }))
})

test.run()
