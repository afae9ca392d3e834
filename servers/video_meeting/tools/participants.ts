import { z } from 'zod'
import { choose, pickFrom } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { actionObstacle, invitationObstacle, peopleNamed } from '../rules.js'
import { ACTIONS, type Action, LIMITS, type Meeting, type Participant, PLACES, tool } from '../schema.js'

const inviteParticipant = tool({
  name: 'invite_participant',
  description:
    'Invite someone of the directory to a meeting of which you are host or co-host, up to the capacity of your plan. In a live meeting the person comes to the waiting room at once.',
  input: z.strictObject({
    meeting: ref('meeting'),
    name: z.string().trim().min(2).max(60).describe('Full name, or one that only one person has'),
  }),
  output: z.object({ name: z.string(), participant: ref('participant'), meeting: ref('meeting'), place: z.string() }),
  annotations: { readOnly: false },
  sample({ db, random, bound }) {
    const people = bound.name === undefined ? random.sample(db.people.list(), 8) : peopleNamed(db, bound.name)
    for (const person of people) {
      const fits = (row: Meeting) => !invitationObstacle(db, row, person)
      const live = (row: Meeting) => row.status === 'live' && fits(row)
      const meeting =
        (random.chance(0.4) ? choose(db.meetings, random, bound.meeting, live) : undefined) ??
        choose(db.meetings, random, bound.meeting, fits)
      if (meeting) return { meeting: meeting.meeting, name: bound.name ?? person.name }
    }
    return null
  },
  run({ meeting: key, name: query }, { rowOf, unless, db, fail, nextId }) {
    const meeting = rowOf('meetings', key)
    const [found, other] = peopleNamed(db, query)
    if (!found) return fail('unknown_person', `Nobody called ${query} is in the directory.`)
    if (other) fail('ambiguous_name', `${query} could be ${found.name} or ${other.name}.`)
    unless(invitationObstacle(db, meeting, found))
    const { name, person } = found
    return db.participants.insert({
      participant: nextId(name.split(' ')[0]!.toLowerCase()),
      name,
      person,
      meeting: key,
      role: 'attendee',
      place: meeting.status === 'live' ? 'waiting' : 'invited',
    })
  },
})

const listParticipants = tool({
  name: 'list_participants',
  description: `List the participants of a meeting with role and place, and who refuses to be recorded.`,
  input: z.strictObject({
    meeting: ref('meeting'),
    place: z.enum(PLACES).describe('Only participants who are there.').optional(),
  }),
  output: z.object({
    found: z.int(),
    participants: z.array(
      z.object({
        name: z.string(),
        participant: ref('participant'),
        role: z.string(),
        place: z.string(),
        consent: z.literal('refused').optional(),
      }),
    ),
  }),
  pages: { participants: 'short' },
  annotations: { readOnly: true },
  sample({ db, random, bound }) {
    const live = (row: Meeting) => row.status === 'live' && row.role !== 'attendee'
    const meeting =
      (bound.meeting === undefined && random.chance(0.5) ? choose(db.meetings, random, undefined, live) : undefined) ??
      choose(db.meetings, random, bound.meeting)
    if (!meeting) return null
    const there = db.participants.by('meeting', meeting.meeting)
    // Nobody asks only for those who were removed, or of a meeting that is over for those who have left.
    const places = there.map((row) => row.place).filter((drawn) => drawn !== 'left' && drawn !== 'removed')
    const place = bound.place ?? (random.chance(0.4) ? pickFrom(random, places) : undefined)
    return { meeting: meeting.meeting, ...(place === undefined ? {} : { place }) }
  },
  run({ meeting, place }, { rowOf, db }) {
    rowOf('meetings', meeting)
    const all = db.participants.by('meeting', meeting)
    const participants = place === undefined ? all : all.filter((row) => row.place === place)
    return {
      found: participants.length,
      participants: participants.map(({ name, participant, role, place: now, person }) => ({
        name,
        participant,
        role,
        place: now,
        ...(db.people.get(person)!.consents ? {} : { consent: 'refused' as const }),
      })),
    }
  },
})

/** What an action changes. */
const EFFECTS: Readonly<Record<Action, Partial<Participant>>> = {
  admit: { place: 'present' },
  hold: { place: 'waiting' },
  remove: { place: 'removed' },
  promote: { role: 'cohost' },
  demote: { role: 'attendee' },
}

/** What people have done for them, the most usual first: who waits is let in, and nobody is sent away without a reason or asks to "hold" somebody. */
const USUAL: readonly Action[] = ['admit', 'promote', 'demote', 'remove']

const manageParticipant = tool({
  name: 'manage_participant',
  description: `Admit someone from the waiting room of a live meeting, put someone on hold (back to the waiting room), remove someone for good, promote someone present to co-host, or demote a co-host. Hosts and co-hosts may do this; co-hosts are touched by the host alone, and at most ${LIMITS.cohosts} may be. Nobody is admitted to a recording without consent.`,
  input: z.strictObject({
    participant: ref('participant'),
    action: z.enum(ACTIONS).describe('What happens to the participant.'),
  }),
  output: z.object({
    name: z.string(),
    participant: ref('participant'),
    role: z.string(),
    place: z.string(),
    meeting: ref('meeting'),
  }),
  annotations: { readOnly: false, destructive: true },
  establishes: ['consent_settled'],
  needs: ['meeting_live'],
  sample({ db, random, bound }) {
    const actions = bound.action === undefined ? USUAL : [bound.action]
    // Nobody is thrown out who has not come in.
    const possible = (row: Participant) =>
      actions.filter((action) => !actionObstacle(db, row, action) && (action !== 'remove' || row.place === 'present'))
    const participant = choose(db.participants, random, bound.participant, (row) => possible(row).length > 0)
    if (!participant) return null
    const there = possible(participant)
    return { participant: participant.participant, action: random.chance(0.75) ? there[0]! : random.pick(there) }
  },
  run({ participant: key, action }, { rowOf, unless, db }) {
    const participant = rowOf('participants', key)
    unless(actionObstacle(db, participant, action))
    return db.participants.update(key, EFFECTS[action])
  },
})

export const participantTools = [inviteParticipant, listParticipants, manageParticipant]
