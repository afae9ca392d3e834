import type { WaysToAsk } from '../kernel/ways-to-ask.js'

/** By tool: how else people ask for it. */
export const waysToAsk: Readonly<Record<string, WaysToAsk>> = {
  find_meetings: {
    clauses: [
      '(see|check) if there is a[ {status}] video meeting "{title}"',
      '(tell me|find out) when the video meeting "{title}" is',
      'go through my[ {status}] video meetings for "{title}"',
      'get me the[ {status}] call named "{title}"',
      'locate the[ {status}] video call "{title}"',
      'bring up "{title}" from the[ {status}] video meetings',
      'look for a[ {status}] video meeting called "{title}"',
      'let me see the[ {status}] meeting called "{title}"',
    ],
    goals: ['look for a video call', 'know when a video meeting is', 'find one of our calls'],
  },
  schedule_meeting: {
    clauses: [
      'put a video (call|meeting) named "{title}" on the schedule for {date} at {start}, {minutes} minutes long',
      'create the video meeting "{title}", on {date} from {start} for {minutes} minutes',
      'set up a {minutes}-minute video call named "{title}" for {date} at {start}',
      'book a {minutes}-minute video meeting called "{title}" for {date} at {start}',
      'plan a video meeting called "{title}" for {date} at {start}, lasting {minutes} minutes',
    ],
    goals: ['have a video meeting', 'plan a video call', 'meet some people online'],
  },
  start_meeting: {
    clauses: [
      'launch {meeting}',
      'go live with {meeting}',
      'get {meeting} under way',
      'get {meeting} started',
      'kick off {meeting}',
    ],
    goals: ['begin a video call', 'get a video meeting under way', 'start one of our calls'],
  },
  end_meeting: {
    clauses: [
      '(finish|stop) {meeting}',
      'shut {meeting} down',
      'wrap {meeting} up',
      'go ahead and end {meeting}',
      'wind {meeting} up',
    ],
    goals: ['end a video call', 'end a meeting for everyone', 'bring a call to an end'],
  },
  invite_participant: {
    clauses: [
      'put {name} on the list for {meeting}',
      'invite {name} along to {meeting}',
      'include {name} in {meeting}',
      'add {name} as a participant in {meeting}',
      'make sure that {name} is invited to {meeting}',
    ],
    goals: ['add somebody to a video call', 'bring somebody into a call', 'ask somebody to join a video meeting'],
  },
  list_participants: {
    clauses: [
      '(find out|see) who is on the list for {meeting}[, only those who are {place}]',
      '(pull|bring) up the participants of {meeting}[ who are {place}]',
      'let me know who is in {meeting}[, only those who are {place}]',
      'give me everyone in {meeting}[ who is {place}]',
      'get me the names of (those|the people) in {meeting}[ who are {place}]',
    ],
    goals: ['know who is in a call', 'see the participants of a video meeting', 'check who was invited'],
  },
  manage_participant: {
    clauses: [
      '{action} {participant} for me',
      'find {participant} in the participant list and {action} them',
      '{action} {participant} now',
      'go to the participant list and {action} {participant}',
      'do me a favour and {action} {participant}',
    ],
    goals: [
      'manage a participant in a meeting',
      "change somebody's role or status in a call",
      'use the meeting controls on a participant',
    ],
  },
  start_recording: {
    clauses: [
      'get {meeting} recorded',
      'turn on recording (for|in) {meeting}',
      'begin recording {meeting}',
      'make a recording of {meeting}',
      'get a recording of {meeting} going',
    ],
    goals: ['have a call recorded', 'make a recording of a meeting', 'start recording a call'],
  },
  stop_recording: {
    clauses: [
      'turn off recording in {meeting}',
      'switch the recording of {meeting} off',
      'hit stop on the recording of {meeting}',
      'go ahead and stop recording {meeting}',
      'quit recording {meeting}',
    ],
    goals: ['stop recording a call', 'end a recording that is running', 'turn off recording in a meeting'],
  },
  delete_recording: {
    clauses: [
      '(wipe|erase) {recording}',
      'throw {recording} away',
      'clear {recording} out of my storage',
      'bin {recording}',
      'delete {recording} (for good|permanently)',
    ],
    goals: ['get rid of a recording', 'delete what was recorded in a meeting', 'erase a recording'],
  },
}
