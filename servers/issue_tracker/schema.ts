import { z } from 'zod'
import { type ObstacleOf, type SampleContext, type ToolContext, toolMaker } from '../kernel/define-environment.js'

export const STATUSES = ['todo', 'in_progress', 'review', 'done'] as const
export const TYPES = ['bug', 'feature', 'task'] as const
export const PRIORITIES = ['low', 'medium', 'high', 'urgent'] as const
export const ROLES = ['developer', 'tester', 'designer', 'guest'] as const
export const SPRINT_STATES = ['planned', 'active', 'closed'] as const

export const Status = z.enum(STATUSES)
export const IssueType = z.enum(TYPES)
export const Priority = z.enum(PRIORITIES)
export const Role = z.enum(ROLES)
export const SprintState = z.enum(SPRINT_STATES)
export const Points = z.int().min(1).max(13)

/** Open urgent issues a project may have at once: if everything is urgent, nothing is. */
export const URGENT_QUOTA = 3
export const MAX_LABELS = 4
/** Days from the start of a sprint to its end. */
export const SPRINT_DAYS = 14

const key = z.string().min(1).max(40)
const date = z.string().regex(/^\d{4}-\d{2}-\d{2}$/)

export const tables = {
  projects: {
    key: 'project',
    missing: 'unknown_project',
    row: z.object({
      project: key,
      name: z.string(),
      /** Number of the newest issue. */
      last_number: z.int().positive(),
      active_sprint: key.nullable(),
    }),
  },
  members: {
    key: 'member',
    missing: 'unknown_member',
    row: z.object({
      member: key,
      name: z.string(),
      role: Role,
      projects: z.array(key).min(1),
      wip_limit: z.int().min(1).max(4),
      /** How many issues assigned to the member are in progress; an index over `issues`. */
      in_progress: z.int().nonnegative(),
    }),
  },
  issues: {
    key: 'issue',
    missing: 'unknown_issue',
    row: z.object({
      issue: z.string().regex(/^[A-Z]{2,5}-\d+$/),
      project: key,
      title: z.string(),
      type: IssueType,
      status: Status,
      priority: Priority,
      assignee: key.nullable(),
      points: Points.nullable(),
      sprint: key.nullable(),
      release: key.nullable(),
      labels: z.array(z.string()).max(MAX_LABELS),
      watchers: z.array(key),
    }),
  },
  sprints: {
    key: 'sprint',
    missing: 'unknown_sprint',
    row: z.object({
      sprint: key,
      project: key,
      name: z.string(),
      state: SprintState,
      capacity: z.int().positive(),
      /** Points of the issues in it; an index over `issues`. */
      points: z.int().nonnegative(),
      ends: date.nullable(),
    }),
  },
  releases: {
    key: 'release',
    missing: 'unknown_release',
    row: z.object({ release: key, project: key, name: z.string(), due: date, shipped: z.boolean() }),
  },
  /** `issue` cannot be done before `blocker` is. */
  links: { key: 'link', row: z.object({ link: key, issue: key, blocker: key }) },
  comments: { key: 'comment', row: z.object({ comment: key, issue: key, text: z.string(), written: date }) },
} as const

export const failures = {
  unknown_project: 'There is no such project.',
  unknown_issue: 'There is no such issue.',
  unknown_member: 'There is no such member.',
  unknown_sprint: 'There is no such sprint.',
  unknown_release: 'There is no such release.',
  duplicate_title: 'The project has an open issue with this title.',
  issue_closed: 'The issue is done.',
  issue_archived: 'The issue belongs to a shipped release and is read-only.',
  not_a_project_member: 'The member does not belong to the project of the issue.',
  guest_cannot_work: 'Guests may watch issues but not work on them.',
  already_assigned: 'The member already has this issue.',
  issue_unassigned: 'The issue has no assignee: assign it first.',
  wip_limit_reached: 'The member has as many issues in progress as allowed.',
  transition_not_allowed: 'The workflow does not allow this step.',
  issue_blocked: 'The issue is blocked by issues that are not done.',
  dependents_done: 'Issues that it blocked are done, so it cannot be reopened.',
  too_many_urgent: `The project already has ${URGENT_QUOTA} urgent open issues.`,
  not_estimated: 'The issue has no estimate: estimate it first.',
  sprint_full: 'The points do not fit into the capacity of the sprint.',
  sprint_closed: 'The sprint is closed and cannot change.',
  sprint_not_active: 'The sprint is not active.',
  sprint_already_active: 'The sprint is already active.',
  another_sprint_active: 'The project has another active sprint: close it first.',
  sprint_empty: 'The sprint has no issues.',
  already_in_sprint: 'The issue is already in the sprint.',
  different_project: 'The two do not belong to the same project.',
  already_in_release: 'The issue is already in the release.',
  release_shipped: 'The release is shipped and cannot change.',
  release_empty: 'The release has no issues.',
  release_incomplete: 'The release has issues that are not done.',
  already_labelled: 'The issue already has this label.',
  too_many_labels: `An issue carries at most ${MAX_LABELS} labels.`,
  already_watching: 'The member already watches this issue.',
  already_linked: 'The blocking link is already there.',
  link_cycle: 'The link would make the issues block each other.',
} as const

export type FailureCode = keyof typeof failures
export type Obstacle = ObstacleOf<typeof failures>
export type Context = ToolContext<typeof tables, FailureCode>
export type Sample<A> = SampleContext<typeof tables, A>
export type Db = Sample<unknown>['db']
export type Project = z.output<typeof tables.projects.row>
export type Member = z.output<typeof tables.members.row>
export type Issue = z.output<typeof tables.issues.row>
export type Sprint = z.output<typeof tables.sprints.row>
export type Release = z.output<typeof tables.releases.row>
export type Link = z.output<typeof tables.links.row>
export type Comment = z.output<typeof tables.comments.row>

export const tool = toolMaker(tables, failures)
