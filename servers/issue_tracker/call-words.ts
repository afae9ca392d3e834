import type { CallWords } from '../kernel/define-environment.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  find_issues: {
    goal: 'find an issue',
    answer: 'I found {issues#issue}[: {issues*{issue}, {title} ({status})}].',
    wishes: ['find planned work'],
  },
  list_assigned_issues: {
    goal: 'see what somebody has to work on',
    answer: 'There {issues=is|are} {issues#open issue}[: {issues*{issue}, {title} ({status})}].',
    said: ['member'],
  },
  show_issue: {
    goal: 'look at an issue',
    answer:
      '{issue}, {title}, is a {type} with {priority} priority[ and {points:point}]. Its status is {status}, and it is assigned to [{assignee}]{assignee?|nobody}.[ It is blocked by {blocked_by}.]',
    said: ['issue'],
  },
  list_project_members: {
    goal: 'see who works on a project',
    answer: 'I found {members#@role}[: {members*{name} ({in_progress} in progress, at most {wip_limit})}].',
    said: ['role', 'project'],
    wishes: ['find a person'],
  },
  list_sprints: {
    goal: 'see the sprints of a project',
    answer: 'There {sprints=is|are} {sprints#@state sprint}[: {sprints*{name} ({points} of {capacity} points)}].',
    wishes: ['find planned work'],
  },
  list_releases: {
    goal: 'see the next releases of a project',
    answer:
      'There {releases=is|are} {releases#open release}[: {releases*{name}, due {due}, with {unfinished:unfinished issue}}].',
    wishes: ['find planned work'],
  },
  create_issue: {
    goal: 'report an issue',
    answer: 'I created {issue}, {title}, with {priority} priority.',
    next: ['assign_issue', 'estimate_issue', 'label_issue', 'watch_issue', 'add_to_sprint', 'block_issue'],
    checks: [],
  },
  assign_issue: {
    goal: 'assign an issue to somebody',
    answer: '{issue}, {title}, is assigned to {member} now.',
    next: ['move_issue', 'comment_on_issue', 'watch_issue', 'estimate_issue'],
    checks: ['list_assigned_issues'],
  },
  move_issue: {
    goal: 'move an issue on the board',
    answer: 'The status of {issue}, {title}, is {status} now.',
    next: ['comment_on_issue', 'add_to_release', 'ship_release'],
    checks: [],
  },
  set_priority: {
    goal: 'change the priority of an issue',
    answer: '{issue}, {title}, has {priority} priority now.',
    next: ['assign_issue', 'comment_on_issue', 'add_to_sprint'],
    checks: [],
  },
  estimate_issue: {
    goal: 'estimate an issue',
    answer: '{issue}, {title}, is estimated at {points:point}.',
    next: ['add_to_sprint', 'assign_issue'],
    checks: ['list_sprints'],
  },
  comment_on_issue: {
    goal: 'comment on an issue',
    answer: 'Your comment is on {issue}, {title}, which has {comments:comment} now.',
    next: ['move_issue'],
    checks: [],
  },
  label_issue: {
    goal: 'label an issue',
    answer: '{issue}, {title}, has the {labels=label|labels} {labels}.',
    next: ['add_to_release', 'assign_issue'],
    checks: [],
  },
  watch_issue: {
    goal: 'add a watcher to an issue',
    answer: '{member} watches {issue}, {title}, now; it has {watchers:watcher}.',
    checks: [],
  },
  block_issue: {
    goal: 'mark an issue as blocked',
    answer: '{issue}, {title}, is blocked by {blocked_by} now.',
    said: ['blocker'],
    checks: [],
  },
  add_to_sprint: {
    goal: 'put an issue into a sprint',
    answer: '{issue}, {title}, is in the sprint, which has room for {free:more point}.',
    said: ['sprint'],
    next: ['start_sprint', 'assign_issue'],
    checks: ['list_sprints'],
  },
  start_sprint: {
    goal: 'start a sprint',
    answer: '{name} is {state} and ends on {ends}.',
    said: ['sprint'],
    checks: [],
  },
  close_sprint: {
    goal: 'close a sprint',
    answer: '{name} is {state}: {finished:issue} finished, {returned:issue} back in the backlog.',
    next: ['start_sprint'],
    checks: ['list_sprints'],
  },
  add_to_release: {
    goal: 'add an issue to a release',
    answer: '{issue}, {title}, is part of the release due on {due}.',
    next: ['ship_release'],
    checks: ['list_releases'],
  },
  ship_release: { goal: 'ship a release', answer: '{name} is shipped with {issues:issue}.', checks: ['list_releases'] },
}
