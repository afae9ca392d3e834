import type { WaysToAsk } from '../kernel/ways-to-ask.js'

/** By tool: how else people ask for it. */
export const waysToAsk: Readonly<Record<string, WaysToAsk>> = {
  find_meetings: {
    clauses: [
      '(see|check) if there is a[ {status}] video meeting "{title}"',
      '(tell me|find out) when the[ {status}] video meeting "{title}" is',
      'go through my[ {status}] video meetings for "{title}"',
      'get me the[ {status}] call named "{title}"',
      'locate the[ {status}] video call "{title}"',
      'bring up "{title}" from the[ {status}] video meetings',
      'look for a[ {status}] video meeting by the name of "{title}"',
      'let me see the[ {status}] meeting called "{title}"',
    ],
    goals: ['look for a video call', 'know when a video meeting is', 'find one of our calls'],
  },
  schedule_meeting: {
    clauses: [
      '(put|enter) a video call "{title}" on {date} at {start}, {minutes} minutes long',
      'have us meet by video on {date} at {start} for {minutes} minutes, as "{title}"',
      'create the video meeting "{title}", on {date} from {start} for {minutes} minutes',
      'reserve {minutes} minutes on {date} at {start} for the video call "{title}"',
      'make a video call named "{title}" for {date}, {start}, of {minutes} minutes',
      'plan the video meeting "{title}" on {date} at {start} to last {minutes} minutes',
      'book a video meeting for {date} at {start}, "{title}", with {minutes} minutes',
      'call a video meeting for {date} at {start}, {minutes} minutes, under the title "{title}"',
    ],
    goals: ['have a meeting by video', 'plan a video call', 'meet some people online'],
  },
  start_meeting: {
    clauses: [
      '(open|begin|launch) {meeting}',
      'make {meeting} live',
      'get {meeting} under way',
      'make sure that {meeting} starts',
      'set {meeting} going',
    ],
    goals: ['begin a video call', 'get a video meeting under way', 'open one of our calls'],
  },
  end_meeting: {
    clauses: [
      '(finish|close|stop) {meeting}',
      'shut {meeting} down',
      'make sure that {meeting} ends',
      'wind {meeting} up',
      'call {meeting} finished and close it',
    ],
    goals: ['close a video call', 'be done with a video meeting', 'get a call over'],
  },
  invite_participant: {
    clauses: [
      'have {name} take part in {meeting}',
      'put {name} on the list for {meeting}',
      'get {name} along to {meeting}',
      'bring {name} in on {meeting}',
      'include {name} in {meeting}',
      'make {name} a participant of {meeting}',
      'make sure that {name} is invited to {meeting}',
    ],
    goals: ['have somebody in a video call', 'bring somebody into a call', 'ask somebody to join a video meeting'],
  },
  list_participants: {
    clauses: [
      '(find out|see) who is on the list of {meeting}[, only those who are {place}]',
      '(pull|bring) up the people of {meeting}[ that are {place}]',
      'let me know who belongs to {meeting}[ and is {place}]',
      'give me everyone in {meeting}[ who is {place}]',
      'go through the participants of {meeting}[, the {place} ones only]',
      'get me the names of those in {meeting}[ who are {place}]',
      'name the people in {meeting}[, only those {place}]',
    ],
    goals: ['know who takes part in a call', 'see the people in a video meeting', 'check who was invited'],
  },
  manage_participant: {
    clauses: [
      'use my rights as host to {action} {participant}',
      'use the controls of the meeting to {action} {participant}',
      '{action} {participant} for me',
      'as the host, {action} {participant}',
      'go on and {action} {participant}',
    ],
    goals: ['see to somebody in a call', 'do something about a participant', 'change the part somebody has in a call'],
  },
  start_recording: {
    clauses: [
      '(have|get) {meeting} recorded',
      'turn on recording in {meeting}',
      'start to record {meeting}',
      'set the recording of {meeting} going',
      'make a recording of {meeting} from here on',
      'tape {meeting} from now on',
    ],
    goals: ['have a call recorded', 'keep a recording of a meeting', 'start the recording of a call'],
  },
  stop_recording: {
    clauses: [
      'finish the recording of {meeting}',
      'turn off recording in {meeting}',
      'switch the recording of {meeting} off',
      'bring the recording of {meeting} to an end',
      'make sure that the recording of {meeting} stops',
      'close the recording of {meeting}',
    ],
    goals: ['have a call no longer recorded', 'end the recording of a meeting', 'switch off a recording'],
  },
  delete_recording: {
    clauses: [
      '(wipe|erase|drop) {recording}',
      'throw {recording} away',
      'clear {recording} out of the storage',
      'make sure that {recording} is gone',
      'take {recording} out of the storage',
    ],
    goals: ['get rid of a recording', 'throw away what was recorded', 'clear a recording away'],
  },
}
