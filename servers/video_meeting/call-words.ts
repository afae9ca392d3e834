import type { CallWords } from '../kernel/define-environment.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  find_meetings: {
    goal: 'find a video meeting',
    answer:
      'I found {found:meeting}[: {meetings*{title} on {date}[ at {start}] ({status}, with you as {role}{recording?, recorded|})}].',
    wishes: ['find dates'],
  },
  schedule_meeting: {
    goal: 'set up a video call',
    answer: '{title} is {status} for {date} at {start}.',
    next: ['invite_participant', 'start_meeting'],
    wishes: ['plan a date'],
  },
  start_meeting: {
    goal: 'start a video meeting',
    answer: '{title} is {status} now, with {waiting:person} in the waiting room.',
    next: ['invite_participant', 'manage_participant', 'start_recording'],
    checks: ['list_participants'],
  },
  end_meeting: {
    goal: 'end a video meeting',
    answer: '{title} is over after {minutes:minute}.',
    checks: [],
    wishes: ['call off a date'],
  },
  invite_participant: {
    goal: 'invite somebody to a video meeting',
    answer: '{name} is {place}.',
    next: ['start_meeting'],
    checks: ['list_participants'],
    wishes: ['invite somebody'],
  },
  list_participants: {
    goal: 'see who is in a video meeting',
    answer:
      'There {found=is|are} {found:participant}[: {participants*{name} ({role}, {place}[, recording {consent}])}].',
  },
  manage_participant: {
    goal: 'let somebody in or out of a meeting',
    answer: '{name} is {place} now, as {role}.',
    next: ['start_recording'],
    checks: ['list_participants'],
  },
  start_recording: {
    goal: 'record a video meeting',
    answer: '{title} is being recorded; there is room for {storage_left} MB.',
    checks: [],
  },
  stop_recording: {
    goal: 'stop a recording',
    answer: 'The recording of {title} is saved: {minutes:minute}, {megabytes} MB. {storage_left} MB are still free.',
    next: ['end_meeting'],
    checks: [],
  },
  delete_recording: {
    goal: 'delete a recording',
    answer: 'The recording of {title} is gone, which frees {freed} MB; {storage_left} MB are free now.',
    next: ['start_recording'],
    checks: [],
  },
}
