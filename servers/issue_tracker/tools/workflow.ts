import { z } from 'zod'
import { choices } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import {
  atWipLimit,
  hasDoneDependents,
  isArchived,
  liveIssue,
  NEXT_STATUSES,
  openBlockers,
  openIssue,
  urgentQuotaUsed,
} from '../rules.js'
import {
  type Context,
  type Db,
  type Issue,
  IssueType,
  type Member,
  Points,
  PRIORITIES,
  Priority,
  Status,
  TYPES,
  tool,
} from '../schema.js'
import { SUBJECTS, titleOf } from '../words.js'

const ESTIMATES = [2, 3, 5, 8, 13]

const sameTitle = (a: string, b: string): boolean => a.trim().toLowerCase() === b.trim().toLowerCase()

const isOpen = ({ status }: Issue): boolean => status !== 'done'

const canTake = (member: Member, issue: Issue): boolean =>
  member.role !== 'guest' &&
  member.member !== issue.assignee &&
  member.projects.includes(issue.project) &&
  !(issue.status === 'in_progress' && atWipLimit(member))

const countInProgress = ({ db }: Context, member: string | null, change: 1 | -1): void => {
  if (member === null) return
  db.members.update(member, { in_progress: db.members.get(member)!.in_progress + change })
}

/** Whether `issue` could take the step to `status` now. */
function canMove(db: Db, issue: Issue, status: Issue['status']): boolean {
  if (!NEXT_STATUSES[issue.status].includes(status) || isArchived(db, issue)) return false
  if (status === 'in_progress') return issue.assignee !== null && !atWipLimit(db.members.get(issue.assignee)!)
  if (status === 'done') return openBlockers(db, issue).length === 0
  return issue.status !== 'done' || canReopen(db, issue)
}

const inClosedSprint = (db: Db, { sprint }: Issue): boolean =>
  sprint !== null && db.sprints.get(sprint)?.state === 'closed'

const canReopen = (db: Db, issue: Issue): boolean =>
  !inClosedSprint(db, issue) &&
  !hasDoneDependents(db, issue) &&
  !(issue.priority === 'urgent' && urgentQuotaUsed(db, issue.project))

/** @throws DomainFailure when `issue`, which is done, must stay so */
function checkReopening({ db, fail }: Context, issue: Issue): void {
  if (inClosedSprint(db, issue)) fail('sprint_closed', `${issue.issue} was finished in the closed ${issue.sprint}.`)
  if (hasDoneDependents(db, issue)) fail('dependents_done')
  if (issue.priority === 'urgent' && urgentQuotaUsed(db, issue.project)) fail('too_many_urgent')
}

export const workflow = [
  tool({
    name: 'create_issue',
    description: 'Creates an issue in a project. It starts as todo, without assignee and estimate.',
    input: z.strictObject({
      project: ref('project'),
      type: IssueType.describe('What kind of work it is.'),
      title: z.string().min(3).max(80).describe('What it is about, in one line.'),
      priority: Priority.optional().describe('Default medium'),
    }),
    output: z.object({ title: z.string(), issue: ref('issue'), status: Status, priority: Priority }),
    annotations: { readOnly: false },
    sample({ db, random, bound }) {
      const projects = choices(db.projects, bound.project, () => true)
      if (projects.length === 0) return null
      const { project } = random.pick(projects)
      const type = bound.type ?? random.pick(TYPES)
      const title = bound.title ?? titleOf(type, random.pick(SUBJECTS), random)
      if (db.issues.find((issue) => issue.project === project && isOpen(issue) && sameTitle(issue.title, title)))
        return null
      const allowed = PRIORITIES.filter((priority) => priority !== 'urgent' || !urgentQuotaUsed(db, project))
      const priority = bound.priority ?? (random.chance(0.3) ? random.pick(allowed) : undefined)
      return { project, type, title, ...(priority === undefined ? {} : { priority }) }
    },
    run({ project, type, title, priority = 'medium' }, { rowOf, db, fail }) {
      const number = rowOf('projects', project).last_number + 1
      const twin = db.issues.find(
        (issue) => issue.project === project && isOpen(issue) && sameTitle(issue.title, title),
      )
      if (twin) fail('duplicate_title', `${twin.issue} has this title and is still open.`)
      if (priority === 'urgent' && urgentQuotaUsed(db, project)) fail('too_many_urgent')
      db.projects.update(project, { last_number: number })
      return db.issues.insert({
        issue: `${project}-${number}`,
        project,
        title,
        type,
        status: 'todo',
        priority,
        assignee: null,
        points: null,
        sprint: null,
        release: null,
        labels: [],
        watchers: [],
      })
    },
  }),

  tool({
    name: 'assign_issue',
    description: 'Assigns an issue to a member of its project, taking it from whoever had it.',
    input: z.strictObject({ issue: ref('issue'), member: ref('member') }),
    output: z.object({ title: z.string(), issue: ref('issue'), member: ref('member'), status: Status }),
    annotations: { readOnly: false },
    establishes: ['issue_assigned'],
    sample({ db, random, bound }) {
      for (const issue of random.shuffle(choices(db.issues, bound.issue, isOpen))) {
        // Who has as much in progress as allowed is not given more.
        const members = choices(db.members, bound.member, (member) => canTake(member, issue) && !atWipLimit(member))
        if (members.length > 0) return { issue: issue.issue, member: random.pick(members).member }
      }
      return null
    },
    run({ issue: key, member: name }, context) {
      const { rowOf, db, fail } = context
      const issue = openIssue(context, key)
      const member = rowOf('members', name)
      if (!member.projects.includes(issue.project))
        fail('not_a_project_member', `${name} does not work on ${issue.project}.`)
      if (member.role === 'guest') fail('guest_cannot_work')
      if (issue.assignee === name) fail('already_assigned')
      if (issue.status === 'in_progress') {
        if (atWipLimit(member)) fail('wip_limit_reached', `${name} has ${member.in_progress} issues in progress.`)
        countInProgress(context, issue.assignee, -1)
        countInProgress(context, name, 1)
      }
      return { ...db.issues.update(key, { assignee: name }), member: name }
    },
  }),

  tool({
    name: 'move_issue',
    description:
      'Moves an issue one step in the workflow: todo, in_progress, review, done. One step back is allowed; done goes back to todo.',
    input: z.strictObject({
      issue: ref('issue'),
      status: Status.describe('The status that the issue gets, one step from the present one.'),
    }),
    output: z.object({ title: z.string(), issue: ref('issue'), status: Status }),
    annotations: { readOnly: false },
    establishes: ['issue_done'],
    needs: ['issue_assigned'],
    sample({ db, random, bound }) {
      for (const issue of random.shuffle(choices(db.issues, bound.issue, () => true))) {
        // What is done is seldom opened again.
        if (bound.issue === undefined && bound.status === undefined && !isOpen(issue) && random.chance(0.8)) continue
        const steps = NEXT_STATUSES[issue.status].filter(
          (status) => (bound.status ?? status) === status && canMove(db, issue, status),
        )
        // A step back is the exception.
        const forward = steps.filter((status) => isOpen(issue) && status === NEXT_STATUSES[issue.status][0])
        const wanted = bound.status !== undefined || random.chance(0.05) ? steps : forward
        if (wanted.length > 0) return { issue: issue.issue, status: random.pick(wanted) }
      }
      return null
    },
    run({ issue: key, status }, context) {
      const { rowOf, db, fail } = context
      const issue = liveIssue(context, key)
      if (!NEXT_STATUSES[issue.status].includes(status))
        fail('transition_not_allowed', `${key} is ${issue.status} and cannot move to ${status}.`)
      if (issue.status === 'done') checkReopening(context, issue)
      if (status === 'done') {
        const [blocker] = openBlockers(db, issue)
        if (blocker !== undefined) fail('issue_blocked', `${key} is blocked by ${blocker}.`)
      }
      if (status === 'in_progress') {
        const assignee = issue.assignee ?? fail('issue_unassigned', `${key} has no assignee.`)
        if (atWipLimit(rowOf('members', assignee)))
          fail('wip_limit_reached', `${assignee} has too many issues in progress.`)
        countInProgress(context, assignee, 1)
      }
      if (issue.status === 'in_progress') countInProgress(context, issue.assignee, -1)
      return db.issues.update(key, { status })
    },
  }),

  tool({
    name: 'set_priority',
    description: 'Sets the priority of an unfinished issue.',
    input: z.strictObject({ issue: ref('issue'), priority: Priority.describe('The priority that the issue gets.') }),
    output: z.object({ title: z.string(), issue: ref('issue'), priority: Priority }),
    annotations: { readOnly: false, idempotent: true },
    sample({ db, random, bound }) {
      const issues = choices(db.issues, bound.issue, isOpen)
      if (issues.length === 0) return null
      const { issue, project, priority: current } = random.pick(issues)
      const allowed = PRIORITIES.filter(
        (priority) =>
          (bound.priority ?? priority) === priority &&
          priority !== current &&
          (priority !== 'urgent' || !urgentQuotaUsed(db, project)),
      )
      // Somebody who speaks of a priority mostly wants the issue to be done sooner.
      const higher = allowed.filter((priority) => PRIORITIES.indexOf(priority) > PRIORITIES.indexOf(current))
      const wanted = higher.length > 0 ? higher : allowed
      return wanted.length === 0 ? null : { issue, priority: random.pick(wanted) }
    },
    run({ issue: key, priority }, context) {
      const issue = openIssue(context, key)
      if (priority === 'urgent' && issue.priority !== 'urgent' && urgentQuotaUsed(context.db, issue.project))
        context.fail('too_many_urgent')
      return context.db.issues.update(key, { priority })
    },
  }),

  tool({
    name: 'estimate_issue',
    description: 'Estimates an unfinished issue in points; one point is about half a day.',
    input: z.strictObject({ issue: ref('issue'), points: Points.describe('Points; one is about half a day.') }),
    output: z.object({ title: z.string(), issue: ref('issue'), points: z.int() }),
    annotations: { readOnly: false, idempotent: true },
    establishes: ['issue_estimated'],
    sample({ db, random, bound }) {
      // What is in the works was estimated before.
      const issues = choices(db.issues, bound.issue, ({ status }) => status === 'todo')
      if (issues.length === 0) return null
      const { issue, points: current, sprint } = random.pick(issues)
      const room = sprint === null ? Number.POSITIVE_INFINITY : freePoints(db, sprint) + (current ?? 0)
      const fitting = (bound.points === undefined ? ESTIMATES : [bound.points]).filter(
        (points) => points <= room && points !== current,
      )
      return fitting.length === 0 ? null : { issue, points: random.pick(fitting) }
    },
    run({ issue: key, points }, context) {
      const { db, fail } = context
      const issue = openIssue(context, key)
      if (issue.sprint !== null) {
        const sprint = db.sprints.get(issue.sprint)!
        const total = sprint.points - (issue.points ?? 0) + points
        if (total > sprint.capacity)
          fail('sprint_full', `${sprint.name} holds ${sprint.capacity} points, not ${total}.`)
        db.sprints.update(issue.sprint, { points: total })
      }
      return { ...db.issues.update(key, { points }), points }
    },
  }),
]

const freePoints = (db: Db, key: string): number => {
  const { capacity, points } = db.sprints.get(key)!
  return capacity - points
}
