import type { Invariant } from '../kernel/define-environment.js'
import { headcount, termsOf } from './rules.js'
import { LIMITS, ME, STATUSES, type VideoTables } from './schema.js'
import { overlap } from './time.js'

type VideoInvariant = Invariant<VideoTables>

const storageIsCounted: VideoInvariant = {
  name: 'the storage used is what the recordings take, and within the plan',
  check(db) {
    const { storage_used } = db.account.get(ME)!
    const sum = db.recordings.list().reduce((total, { megabytes }) => total + megabytes, 0)
    if (sum !== storage_used) return `${storage_used} counted, ${sum} taken`
    return sum > termsOf(db).storage ? `${sum} of ${termsOf(db).storage}` : undefined
  },
}

const lifeMovesForward: VideoInvariant = {
  name: 'meetings never vanish and go only from scheduled to live to ended',
  check(now, seed) {
    return seed.meetings.find(({ meeting, status }) => {
      const row = now.meetings.get(meeting)
      return row === undefined || STATUSES.indexOf(row.status) < STATUSES.indexOf(status)
    })?.meeting
  },
}

const placesFitStatus: VideoInvariant = {
  name: 'people are invited before a meeting, waiting or present while it is live, and gone afterwards',
  check({ meetings, participants }) {
    const fitting = { scheduled: ['invited'], live: ['waiting', 'present', 'removed'], ended: ['left', 'removed'] }
    const wrong = participants.find(({ meeting, place }) => !fitting[meetings.get(meeting)!.status].includes(place))
    return wrong && `${wrong.participant} is ${wrong.place}`
  },
}

const oneHost: VideoInvariant = {
  name: 'every meeting has one host, who is not removed, and few co-hosts',
  check({ meetings, participants }) {
    return meetings.find(({ meeting }) => {
      const cast = participants.list((row) => row.meeting === meeting)
      const hosts = cast.filter(({ role }) => role === 'host')
      const cohosts = cast.filter(({ role }) => role === 'cohost')
      return hosts.length !== 1 || hosts[0]!.place === 'removed' || cohosts.length > LIMITS.cohosts
    })?.meeting
  },
}

const ownRoleAgrees: VideoInvariant = {
  name: 'the user takes part in every meeting once, in the role that the meeting states',
  check({ account, meetings, participants }) {
    const { person } = account.get(ME)!
    return meetings.find(({ meeting, role }) => {
      const own = participants.list((row) => row.meeting === meeting && row.person === person)
      return own.length !== 1 || own[0]!.role !== role
    })?.meeting
  },
}

const nobodyTwice: VideoInvariant = {
  name: 'nobody is twice in one meeting',
  check({ participants }) {
    const seen = new Set<string>()
    return participants.find(({ meeting, person }) => {
      const pair = `${meeting} ${person}`
      const twice = seen.has(pair)
      seen.add(pair)
      return twice
    })?.participant
  },
}

const capacityHolds: VideoInvariant = {
  name: 'no meeting has more people than the plan allows',
  check(db) {
    return db.meetings.find(({ meeting }) => headcount(db, meeting) > termsOf(db).capacity)?.meeting
  },
}

const recordingHasConsent: VideoInvariant = {
  name: 'at most one meeting is recorded, it is live, and everyone present agrees to it',
  check({ meetings, participants, people }) {
    const recorded = meetings.list(({ recorded_since }) => recorded_since !== '')
    if (recorded.length > 1) return `${recorded.length} meetings are recorded`
    if (recorded.some(({ status }) => status !== 'live')) return `${recorded[0]!.meeting} is not live`
    return participants.find(
      ({ meeting, place, person }) =>
        meeting === recorded[0]?.meeting && place === 'present' && !people.get(person)!.consents,
    )?.participant
  },
}

const oneAtATime: VideoInvariant = {
  name: 'the user hosts at most one live meeting, and no two scheduled ones at the same time',
  check({ meetings }) {
    const own = meetings.list(({ role }) => role === 'host')
    if (own.filter(({ status }) => status === 'live').length > 1) return 'two live meetings'
    const planned = own.filter(({ status }) => status === 'scheduled')
    for (const [i, a] of planned.entries())
      for (const b of planned.slice(i + 1)) if (overlap(a, b)) return `${a.meeting} and ${b.meeting}`
    return undefined
  },
}

const recordingsAreKept: VideoInvariant = {
  name: 'a recording under legal hold stays, and every recording belongs to a meeting that was held',
  check(now, seed) {
    const lost = seed.recordings.find(({ recording, held }) => held && !now.recordings.has(recording))
    if (lost) return `${lost.recording} is gone`
    return now.recordings.find(({ meeting }) => (now.meetings.get(meeting)?.status ?? 'scheduled') === 'scheduled')
      ?.recording
  },
}

export const videoInvariants = [
  storageIsCounted,
  lifeMovesForward,
  placesFitStatus,
  oneHost,
  ownRoleAgrees,
  nobodyTwice,
  capacityHolds,
  recordingHasConsent,
  oneAtATime,
  recordingsAreKept,
]
