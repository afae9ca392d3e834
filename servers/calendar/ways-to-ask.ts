import type { WaysToAsk } from '../kernel/ways-to-ask.js'

/** By tool: how else people ask for it. */
export const waysToAsk: Readonly<Record<string, WaysToAsk>> = {
  list_calendars: {
    clauses: [
      '(give me an overview of|show me) the calendars (I use|I have access to)',
      'find out which calendars I have access to',
      '(check|see) which calendars I can use',
      'bring up a list of all the calendars I can use',
      'tell me the names of( all|) my calendars',
      'let me know which calendars (are mine|I own) and which are shared with me',
      'tell me how many calendars I have',
      'pull up the list of( all|) my calendars',
    ],
    goals: ['(know|find out) what calendars there are', 'see a list of my calendars', 'see which calendars I can use'],
  },
  list_events: {
    clauses: [
      '(tell me|let me know) what (is on for|I have on) {date}[ in {calendar}]',
      '(check|look at) my schedule for {date}[, only {calendar}]',
      'find out what is planned for {date}[ in {calendar}]',
      'go through {date} with me[, only {calendar}]',
      '(bring up|pull up) everything that is booked (for|on) {date}[ in {calendar}]',
      'see whether I have anything on {date}[ in {calendar}]',
      'give me (my schedule|the plan) for {date}[, just {calendar}]',
      '(run|take me) through what is planned on {date}[ in {calendar}]',
    ],
    goals: ['see what my day looks like', 'look at my day', '(check|go over) what is planned for a day'],
  },
  find_events: {
    clauses: [
      '(look up|bring up) "{title}" in my (calendar|schedule)',
      '(find out|tell me) (when|what day) "{title}" is',
      '(check|see) if I have "{title}" in my (calendar|diary)',
      '(get me|pull up) the (event|entry) called "{title}"',
      '(go|look) through my calendar for "{title}"',
      'tell me when "{title}" is coming up',
      'let me know when "{title}" is planned for',
      'see whether there is anything like "{title}" in my calendar',
    ],
    goals: [
      '(look something up|find something) in my calendar',
      'know when something takes place',
      'check the date of an event',
    ],
  },
  get_event: {
    clauses: [
      '(give me|get me) (everything|all you have) on {event}',
      '(look up|check) who is (coming to|taking part in) {event}',
      '(bring up|pull up) {event} with all the details',
      'tell me how long {event} (lasts|is going to take) and where it is',
      'see what there is to know about {event}',
      'find out (who organises|who set up) {event} and who is invited',
      'open {event} and tell me what it says',
      'give me all the details of {event}',
    ],
    goals: [
      '(know|find out) more about an event',
      'look at the details of an event',
      'look something up about an event',
    ],
  },
  find_person: {
    clauses: [
      '(check|find out) (which|what) team {name} is in',
      '(pull up|bring up) {name} from the (directory|staff list)',
      'see if {name} (works here|is in the directory)',
      'get me (the entry for|the details of) {name} from the directory',
      'see if I have a colleague called {name}',
      'tell me who {name} is',
      'find (somebody|a colleague) called {name}',
    ],
    goals: ['(find|look up) a colleague', 'look somebody up at work', 'find somebody in the directory'],
  },
  find_free_time: {
    clauses: [
      '(see|tell me) when I could (sit down|get together) with {person} for {duration} minutes on {date}',
      "(find|look for) a {duration}-minute gap on {date} in both my calendar and {person}'s",
      '(suggest|pick) a time for {duration} minutes with {person} on {date}',
      'find the first {duration} minutes on {date} that work for both {person} and me',
      "compare my calendar with {person}'s and find us {duration} free minutes on {date}",
      'see if I can fit in {duration} minutes with {person} on {date}',
      '(find|come up with) a {duration}-minute slot for {person} and me on {date}',
    ],
    goals: [
      '(see|find out) when a colleague and I are both free',
      'find a time when a colleague and I can meet',
      'know when I could get together with somebody',
    ],
  },
  find_free_rooms: {
    clauses: [
      '(tell me|let me know) which rooms[ with a {equipment}] would work for {event}',
      '(see|find out) if there is a room[ with a {equipment}] free for {event}',
      'find me somewhere to hold {event}[, with a {equipment} in the room]',
      'suggest a room for {event}[ that comes with a {equipment}]',
      'show me the free rooms[ with a {equipment}] that are big enough for {event}',
      'see which rooms[ with a {equipment}] we could use for {event}',
      '(pull up|bring up) free rooms for {event}[, but only ones with a {equipment}]',
    ],
    goals: [
      '(find|look for) somewhere to hold an event',
      'see which rooms are free',
      'know which rooms would work for an event',
    ],
  },
  create_event: {
    clauses: [
      '(put|get) "{title}" on my schedule for {date} at {start}, for {duration} minutes[, in {calendar}]',
      'book "{title}" for {date} at {start}, for {duration} minutes[, in {calendar}]',
      'reserve {duration} minutes at {start} on {date} for "{title}"[ in {calendar}]',
      '(set up|arrange) "{title}" for {date} at {start}, lasting {duration} minutes[, in {calendar}]',
      'keep {duration} minutes free at {start} on {date} for "{title}"[ in {calendar}]',
      'put down "{title}" for {start} on {date}, {duration} minutes[, in {calendar}]',
      'make a new entry for "{title}" on {date} at {start}, {duration} minutes long[, in {calendar}]',
    ],
    goals: [
      '(schedule something|add something to my calendar)',
      '(make|set aside) time for something',
      'put a new event in my diary',
    ],
  },
  reschedule_event: {
    clauses: [
      'schedule {event} for {date} at {start} instead',
      'switch {event} to {date} at {start}',
      'give {event} a new time, {start} on {date}',
      'put {event} on {date} at {start} instead',
      'rebook {event} for {date} at {start}',
      'rearrange {event} for {start} on {date}',
    ],
    goals: ['(reschedule|shift) an event', 'move an event to another time', 'change when something takes place'],
  },
  cancel_event: {
    clauses: [
      '(scrap|drop) {event}',
      '(remove|delete) {event} from my (calendar|schedule)',
      'get {event} (off my schedule|out of my diary)',
      'take {event} out of my (calendar|schedule)',
      'get rid of {event}',
      'clear {event} (out of|from) my diary',
    ],
    goals: [
      '(cancel something in|delete something from) my calendar',
      'drop something I had planned',
      'get something off my schedule',
    ],
  },
  repeat_event: {
    clauses: [
      'schedule {event} {frequency}, {times} times in all',
      'set {event} to recur {frequency}, {times} times in all',
      'turn {event} into a {frequency} (event|series) with {times} occurrences in all',
      'have {event} repeat {frequency}, {times} times in total',
      'make {event} recurring: {frequency}, {times} times in all',
    ],
    goals: ['make something in my calendar repeat', 'turn an event into a regular one', 'repeat an event'],
  },
  cancel_series: {
    clauses: [
      '(drop|scrap|get rid of) the (rest|remaining dates) of {series}',
      '(remove|delete) what is still to come of {series}',
      'end {series} now',
      'cancel everything in {series} that is still to come',
      'clear {series} from my calendar',
      'cancel every upcoming date in {series}',
    ],
    goals: ['cancel a recurring event', 'call off a whole series', 'end a regular meeting'],
  },
  invite_attendee: {
    clauses: [
      'have {person} join {event}',
      'include {person} in {event}',
      'get an invitation to {event} out to {person}',
      'ask {person} along to {event}',
      'send an invite for {event} to {person}',
    ],
    goals: [
      '(have somebody|get somebody to) join an event',
      'add somebody to a meeting',
      'ask somebody to come to an event',
    ],
  },
  respond_to_invitation: {
    clauses: [
      'tell the organiser of {event} to put me down as {response}',
      '(reply|respond) to the invitation to {event} and (put me down|mark me) as {response}',
      'record my response to {event} as {response}',
      'list me as {response} for {event}',
      'send {response} as my response to {event}',
      'change my response to {event} to {response}',
      'set me to {response} for {event}',
    ],
    goals: [
      '(reply to|respond to) an invitation',
      'say whether I am coming to something',
      'let an organiser know whether I am coming',
    ],
  },
  book_room: {
    clauses: [
      '(get|grab) {room} for {event}',
      'hold {room} for {event}',
      '(use|secure) {room} for {event}',
      'set {room} aside for {event}',
      'assign {room} to {event}',
    ],
    goals: ['(get|reserve) a room for an event', 'sort out a room for an event', 'have a room for a meeting'],
  },
  set_reminder: {
    clauses: [
      'make sure I am reminded {minutes} minutes before {event}',
      '(alert|notify) me {minutes} minutes (before|ahead of) {event}',
      '(warn|ping) me {minutes} minutes before {event} (begins|starts)',
      'set an alert for {event}, {minutes} minutes (before|ahead)',
      'make sure I get a (reminder|notification) {minutes} minutes before {event}',
      'put a reminder on {event} for {minutes} minutes before',
      'remind me about {event} {minutes} minutes beforehand',
      'remind me of {event} {minutes} minutes before (it starts|the start)',
    ],
    goals: [
      '(be reminded of|get a reminder about) an event',
      'make sure I do not miss an event',
      'set an alert for something in my calendar',
    ],
  },
  share_calendar: {
    clauses: [
      'give {person} {access} (access|rights) to {calendar}',
      'make {person} a {access} of {calendar}',
      'set {person} up as {access} (of|for) {calendar}',
      'grant {person} access to {calendar}, as {access}',
      "set {person}'s access to {calendar} to {access}",
      'put {person} down as {access} for {calendar}',
    ],
    goals: [
      'give somebody access to one of my calendars',
      'let somebody see or change a calendar',
      'share one of my calendars with a colleague',
    ],
  },
}
