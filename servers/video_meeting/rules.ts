import { addMinutes, minutesOf } from '../kernel/dates.js'
import {
  type Action,
  LIMITS,
  ME,
  type Meeting,
  type Obstacle,
  type Participant,
  type Person,
  type PlanTerms,
  type Recording,
  TERMS,
  type VideoView,
} from './schema.js'
import { instantOf, overlap } from './time.js'

/** The state of the account at a moment: what rules look at. */
export interface Scenery {
  readonly db: VideoView
  now(): string
}

export const termsOf = (db: VideoView): PlanTerms => TERMS[db.account.get(ME)!.plan]

export const storageLeft = (db: VideoView): number => termsOf(db).storage - db.account.get(ME)!.storage_used

const moderatorOnly = ({ meeting, role }: Meeting): Obstacle | undefined =>
  role === 'attendee' ? { code: 'moderator_only', detail: `You are only an attendee of ${meeting}.` } : undefined

const hostOnly = ({ meeting, role }: Meeting): Obstacle | undefined =>
  role === 'host' ? undefined : { code: 'host_only', detail: `You are not the host of ${meeting}.` }

const notLive = ({ meeting, status }: Meeting): Obstacle | undefined =>
  status === 'live' ? undefined : { code: 'not_live', detail: `${meeting} is ${status}.` }

type Plan = Pick<Meeting, 'date' | 'start' | 'minutes'>

/** Returns the obstacle to scheduling a meeting with this plan, if any. */
export function schedulingObstacle({ db, now }: Scenery, plan: Plan): Obstacle | undefined {
  const { date, start, minutes } = plan
  if (instantOf(plan) < now()) return { code: 'in_the_past' }
  if (date > addMinutes(now(), LIMITS.horizonDays * 24 * 60).slice(0, 10)) return { code: 'too_far_ahead' }
  const longest = termsOf(db).minutes
  if (minutes > longest) return { code: 'too_long', detail: `The plan allows at most ${longest} minutes.` }
  if (minutesOf(start) + minutes > 24 * 60) return { code: 'ends_after_midnight' }
  const other = db.meetings
    .by('date', date)
    .find((row) => row.role === 'host' && row.status === 'scheduled' && overlap(row, plan))
  return other && { code: 'time_conflict', detail: `${other.meeting} begins at ${other.start}.` }
}

/** Returns the obstacle to starting the meeting now, if any. */
export function startObstacle({ db, now }: Scenery, meeting: Meeting): Obstacle | undefined {
  const { status, start, date, minutes } = meeting
  const foreign = hostOnly(meeting)
  if (foreign) return foreign
  if (status === 'live') return { code: 'already_live' }
  if (status === 'ended') return { code: 'meeting_ended' }
  const planned = instantOf(meeting)
  if (now() < addMinutes(planned, -LIMITS.earlyMinutes))
    return { code: 'too_early', detail: `It is planned for ${date} ${start}.` }
  if (now() >= addMinutes(planned, minutes)) return { code: 'missed', detail: `It was planned for ${date} ${start}.` }
  const other = db.meetings.by('status', 'live').find(({ role }) => role === 'host')
  return other && { code: 'already_hosting', detail: `${other.meeting} is live: end it first.` }
}

export const endObstacle = (meeting: Meeting): Obstacle | undefined => notLive(meeting) ?? hostOnly(meeting)

/** Whether the participant takes up one of the places that the plan allows. */
const takesPlace = ({ place }: Participant): boolean => place !== 'removed' && place !== 'left'

export const headcount = (db: VideoView, meeting: string): number =>
  db.participants.by('meeting', meeting).filter(takesPlace).length

/** The people whose name has every word of the query; only the one whose whole name it is, if there is one. */
export function peopleNamed(db: VideoView, query: string): readonly Person[] {
  // The usual case: the whole name as it is written.
  const same = db.people.by('name', query)
  if (same.length > 0) return same
  const text = query.toLowerCase()
  const words = text.split(/\s+/)
  const found = db.people.list(({ name }) => {
    const parts = name.toLowerCase().split(' ')
    return words.every((word) => parts.includes(word))
  })
  const exact = found.find(({ name }) => name.toLowerCase() === text)
  return exact ? [exact] : found
}

/** Returns the obstacle to inviting the person, if any. */
export function invitationObstacle(db: VideoView, meeting: Meeting, { person, name }: Person): Obstacle | undefined {
  if (meeting.status === 'ended') return { code: 'meeting_ended' }
  const low = moderatorOnly(meeting)
  if (low) return low
  const known = db.participants.by('meeting', meeting.meeting).find((row) => row.person === person)
  if (known)
    return known.place === 'removed'
      ? { code: 'was_removed', detail: `${name} was removed from ${meeting.meeting}.` }
      : { code: 'already_invited', detail: `${name} is ${known.place} as ${known.participant}.` }
  const { capacity } = termsOf(db)
  return headcount(db, meeting.meeting) >= capacity
    ? { code: 'meeting_full', detail: `The plan allows ${capacity} participants.` }
    : undefined
}

const consents = (db: VideoView, { person }: Participant): boolean => db.people.get(person)!.consents

/** Returns the obstacle to this action on a participant, if any. */
export function actionObstacle(db: VideoView, participant: Participant, action: Action): Obstacle | undefined {
  const { participant: key, name, role, place } = participant
  const meeting = db.meetings.get(participant.meeting)!
  const gate = notLive(meeting) ?? moderatorOnly(meeting)
  if (gate) return gate
  if (role === 'host') return { code: 'host_untouchable', detail: `${name} is the host.` }
  if (action === 'promote' || action === 'demote' || role === 'cohost') {
    const foreign = hostOnly(meeting)
    if (foreign) return foreign
  }
  if (action === 'admit') {
    if (place !== 'waiting') return { code: 'not_waiting', detail: `${key} is ${place}.` }
    return meeting.recorded_since !== '' && !consents(db, participant)
      ? { code: 'consent_missing', detail: `${name} does not agree to being recorded.` }
      : undefined
  }
  if (action === 'demote')
    return role === 'cohost' ? undefined : { code: 'not_cohost', detail: `${key} is an ${role}.` }
  if (place !== 'present' && !(action === 'remove' && place === 'waiting'))
    return { code: 'not_present', detail: `${key} is ${place}.` }
  if (action !== 'promote') return undefined
  if (role === 'cohost') return { code: 'already_cohost', detail: `${key} is a co-host.` }
  const cohosts = db.participants.by('meeting', meeting.meeting).filter((row) => row.role === 'cohost').length
  return cohosts >= LIMITS.cohosts ? { code: 'too_many_cohosts' } : undefined
}

/** Returns the obstacle to recording the meeting from now on, if any. */
export function recordingObstacle(db: VideoView, meeting: Meeting): Obstacle | undefined {
  const gate = notLive(meeting) ?? moderatorOnly(meeting)
  if (gate) return gate
  const running = db.meetings.by('status', 'live').find(({ recorded_since }) => recorded_since !== '')
  if (running) return { code: 'already_recording', detail: `${running.meeting} is being recorded.` }
  const unwilling = db.participants
    .by('meeting', meeting.meeting)
    .find((row) => row.place === 'present' && !consents(db, row))
  if (unwilling)
    return { code: 'consent_missing', detail: `${unwilling.participant} does not agree to being recorded.` }
  const left = storageLeft(db)
  return left < LIMITS.storageToStart
    ? { code: 'storage_full', detail: `${left} megabytes are left, ${LIMITS.storageToStart} are needed.` }
    : undefined
}

export function stopObstacle(meeting: Meeting): Obstacle | undefined {
  const gate = notLive(meeting) ?? moderatorOnly(meeting)
  return gate ?? (meeting.recorded_since === '' ? { code: 'not_recording' } : undefined)
}

export function deletionObstacle(db: VideoView, { recording, held, meeting }: Recording): Obstacle | undefined {
  return held
    ? { code: 'recording_held', detail: `${recording} is under a legal hold.` }
    : hostOnly(db.meetings.get(meeting)!)
}
