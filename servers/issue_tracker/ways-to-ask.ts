import type { WaysToAsk } from '../kernel/ways-to-ask.js'

/** By tool: how else people ask for it. */
export const waysToAsk: Readonly<Record<string, WaysToAsk>> = {
  find_issues: {
    clauses: [
      '(check|see) if there is an issue (about|on) the {keyword}[ in {project}]',
      '(pull up|bring up) the issue that has to do with the {keyword}[ in {project}]',
      'get me the issue on the {keyword}[ from {project}]',
      'search the tracker for anything about the {keyword}[, only in {project}]',
      'find out what has been reported about the {keyword}[ in {project}]',
      'tell me which issue deals with the {keyword}[ in {project}]',
      'dig up what we have on the {keyword}[ in {project}]',
    ],
    goals: [
      '(dig up|look for) an issue',
      'see whether something was reported',
      '(look something up in|search) the tracker',
    ],
  },
  list_assigned_issues: {
    clauses: [
      '(tell me|find out) what {member} (is working on|has to do)',
      '(check|see) what {member} still has open',
      '(get me|bring up) everything that {member} has to work on',
      'go through the open issues that {member} has',
      'give me the issues that {member} has to take care of',
      'look at what {member} has on their plate',
      'let me know which issues are with {member}',
    ],
    goals: [
      '(know|find out) what somebody is working on',
      'see how busy a colleague is',
      'check who is working on what',
    ],
  },
  show_issue: {
    clauses: [
      '(pull up|bring up) {issue}',
      '(tell me|see) what {issue} is about',
      '(find out|check) where {issue} stands',
      'go over {issue} with me',
      'get me everything on {issue}',
      'let me see {issue}',
      'give me the details of {issue}',
    ],
    goals: ['know more about an issue', 'find out where an issue stands', 'open one of our issues'],
  },
  list_project_members: {
    clauses: [
      '(tell me|find out) who is on {project} as a {role}',
      '(see|check) whether {project} has a {role}',
      '(get me|bring up) everyone who is a {role} on {project}',
      'list the people on {project} with the {role} role',
      'give me every {role} who works on {project}',
      'look for somebody who is a {role} on {project}',
      'let me know who the {role} is for {project}',
      'tell me who we have as a {role} on {project}',
    ],
    goals: [
      '(know|find out) who is on a project',
      'see the people on a project',
      'look for somebody who could take something on',
    ],
  },
  list_sprints: {
    clauses: [
      '(tell me|find out) which {state} sprints {project} has',
      '(give me|bring up) the {state} sprints of {project}',
      'check {project} for {state} sprints',
      'go through the {state} sprints of {project}',
      'see if {project} has any {state} sprints',
      'let me know about the {state} sprints in {project}',
      'look for a {state} sprint in {project}',
    ],
    goals: ['(know|find out) which sprints there are', 'look over the sprints of a project', 'check on a sprint'],
  },
  list_releases: {
    clauses: [
      '(tell me|find out) which releases are coming up for {project}',
      '(get me|bring up) the open releases of {project}',
      'go through the releases that {project} has coming up',
      'give me an overview of the upcoming releases of {project}',
      'let me know which releases are planned for {project}',
      'look at the upcoming releases in {project}',
    ],
    goals: [
      '(know|find out) what is going to be released',
      'look over the upcoming releases',
      'check when something ships',
    ],
  },
  create_issue: {
    clauses: [
      '(enter|log) "{title}" as a {type} in {project}[, at {priority} priority]',
      'raise a {type} in {project} called "{title}"[, priority {priority}]',
      'write up "{title}" for {project} as a[ {priority}-priority] {type}',
      'get "{title}" into {project} as a {type}[ and set it to {priority} priority]',
      'add "{title}" to {project} as a {type}[ with {priority} priority]',
    ],
    goals: [
      '(enter|log) something in the tracker',
      'report something that needs doing',
      'put a new issue on the board',
    ],
  },
  assign_issue: {
    clauses: [
      '(put|get) {member} on {issue}',
      'pass {issue} (on|over) to {member}',
      'make {member} responsible for {issue}',
      'make sure that {member} gets {issue}',
      'route {issue} to {member}',
    ],
    goals: ['give somebody an issue to work on', 'get somebody to work on an issue', 'pass an issue on'],
  },
  move_issue: {
    clauses: [
      'put {issue} into the {status} column',
      'drag {issue} to {status} on the board',
      'shift {issue} (to|over to) {status}',
      'update {issue} to {status}',
      'switch the status of {issue} to {status}',
    ],
    goals: ['(update|change) the status of an issue', 'update where an issue stands', 'put an issue in another column'],
  },
  set_priority: {
    clauses: [
      'put {issue} at {priority} priority',
      'move {issue} to {priority} priority',
      'rank {issue} as {priority} priority',
      'switch {issue} to {priority} priority',
      'update {issue} so that its priority is {priority}',
    ],
    goals: ['(change|set) how urgent an issue is', 'make an issue more or less important', 'prioritise an issue'],
  },
  estimate_issue: {
    clauses: [
      '(record|enter) {points} points for {issue}',
      'count {issue} as {points} points',
      'put {issue} down for {points} points',
      'assign {points} points to {issue}',
      'make it {points} points for {issue}',
      'use {points} points as the estimate for {issue}',
    ],
    goals: ['say how much work an issue is', 'put an estimate on an issue', 'enter an estimate'],
  },
  comment_on_issue: {
    clauses: [
      '(put|post) "{comment}" on {issue}',
      'reply "{comment}" (under|on) {issue}',
      'add to {issue} that "{comment}"',
      'add "{comment}" to the comments on {issue}',
      'write "{comment}" on {issue}',
    ],
    goals: [
      '(say|write) something about an issue',
      'leave a comment on an issue',
      'tell the others something about an issue',
    ],
  },
  label_issue: {
    clauses: [
      '(give|assign) {issue} the label {label}',
      'file {issue} under the label {label}',
      'add {label} to {issue} as a label',
      'set the label {label} on {issue}',
      'stick the label {label} on {issue}',
    ],
    goals: ['tag an issue', 'put a label on something', 'add a label to an issue'],
  },
  watch_issue: {
    clauses: [
      'make {member} a watcher of {issue}',
      'let {member} know whenever something happens with {issue}',
      '(tell|notify) {member} whenever {issue} changes',
      'sign {member} up (for updates on|to follow) {issue}',
      'subscribe {member} to {issue}',
      'make sure that {member} gets updates on {issue}',
      'add {member} to the people watching {issue}',
      'keep {member} up to date on {issue}',
    ],
    goals: ['keep somebody up to date on an issue', 'let somebody follow an issue', 'have a colleague watch an issue'],
  },
  block_issue: {
    clauses: [
      'hold {issue} until {blocker} is done',
      'make {issue} depend on {blocker}',
      'put {issue} on hold because of {blocker}',
      "note that {issue} can't be done before {blocker} is",
      'record {blocker} as blocking {issue}',
      'set {blocker} as the blocker of {issue}',
    ],
    goals: [
      'note that one issue is waiting on another',
      'put an issue on hold for another',
      'record what is blocking an issue',
    ],
  },
  add_to_sprint: {
    clauses: [
      'include {issue} in {sprint}',
      '(get|bring) {issue} into {sprint}',
      'make {issue} part of {sprint}',
      'move {issue} over to {sprint}',
      'slot {issue} into {sprint}',
      'make sure that {issue} is in {sprint}',
    ],
    goals: ['plan an issue for one of our sprints', 'add something to a sprint', 'get an issue into a sprint'],
  },
  start_sprint: {
    clauses: [
      'launch {sprint}',
      'go ahead and start {sprint}',
      'get {sprint} (under way|started)',
      'activate {sprint}',
      'switch {sprint} to active',
    ],
    goals: ['begin a sprint', 'get a sprint going', 'have the team start on a sprint'],
  },
  close_sprint: {
    clauses: [
      '(finish|complete) {sprint}',
      'close out {sprint}',
      'mark {sprint} as (over|closed)',
      'close {sprint} for good',
      'stop {sprint} and close it',
    ],
    goals: ['(end|finish) a sprint', 'wrap up a sprint', 'bring a sprint to an end'],
  },
  add_to_release: {
    clauses: [
      '(put|get) {issue} into {release}',
      '(plan|schedule) {issue} for {release}',
      'make sure that {issue} is in {release}',
      'assign {issue} to {release}',
      'bundle {issue} with {release}',
    ],
    goals: [
      '(plan for something to|have something) go out with a release',
      'get an issue into a release',
      'put something into a release',
    ],
  },
  ship_release: {
    clauses: [
      '(publish|release) {release}',
      'take {release} live',
      'put {release} out',
      '(launch|deliver) {release}',
      'push {release} out to everybody',
      'make {release} available',
    ],
    goals: ['(publish|bring out) a release', 'get a release out to the users', 'take something live'],
  },
}
