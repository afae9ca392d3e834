import { z } from 'zod'
import { choices } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { openBlockers } from '../rules.js'
import { IssueType, Priority, ROLES, Role, SPRINT_STATES, SprintState, Status, tool } from '../schema.js'
import { subjectIn } from '../words.js'

const issueList = z.object({
  issues: z.array(z.object({ title: z.string(), issue: ref('issue'), status: Status })),
})

const mentions = (title: string, keyword: string): boolean => title.toLowerCase().includes(keyword.trim().toLowerCase())

export const queries = [
  tool({
    name: 'find_issues',
    description: 'Finds issues by words in the title, unfinished ones first.',
    input: z.strictObject({
      keyword: z.string().min(2).max(60).describe('Words of the title'),
      project: ref('project', 'Only issues of this project.').optional(),
    }),
    output: issueList,
    pages: { issues: 'short' },
    annotations: { readOnly: true },
    sample({ db, random, bound }) {
      const about = db.issues.list(
        ({ project, title }) =>
          (bound.project ?? project) === project &&
          mentions(title, bound.keyword ?? '') &&
          subjectIn(title) !== undefined,
      )
      if (about.length === 0) return null
      const { title, project } = random.pick(about)
      const keyword = bound.keyword ?? subjectIn(title)!
      const narrow = bound.project ?? (random.chance(0.3) ? project : undefined)
      return { keyword, ...(narrow === undefined ? {} : { project: narrow }) }
    },
    run({ keyword, project }, context) {
      if (project !== undefined) context.rowOf('projects', project)
      const found = context.db.issues.list(
        (issue) => mentions(issue.title, keyword) && (project ?? issue.project) === issue.project,
      )
      const unfinished = found.filter(({ status }) => status !== 'done')
      const finished = found.filter(({ status }) => status === 'done')
      return { issues: [...unfinished, ...finished] }
    },
  }),

  tool({
    name: 'list_assigned_issues',
    description: 'Lists the unfinished issues of a member.',
    input: z.strictObject({ member: ref('member') }),
    output: issueList,
    pages: { issues: 'short' },
    annotations: { readOnly: true },
    sample({ db, random, bound }) {
      const busy = new Set(db.issues.list(({ status }) => status !== 'done').map(({ assignee }) => assignee))
      const members = choices(db.members, bound.member, ({ member }) => busy.has(member))
      return members.length === 0 ? null : { member: random.pick(members).member }
    },
    run({ member }, context) {
      context.rowOf('members', member)
      const issues = context.db.issues.list(({ assignee, status }) => assignee === member && status !== 'done')
      return { issues }
    },
  }),

  tool({
    name: 'show_issue',
    description: 'Shows the details of an issue.',
    input: z.strictObject({ issue: ref('issue') }),
    output: z.object({
      title: z.string(),
      issue: ref('issue'),
      // Plain text: who speaks of an issue has not spoken of "that project".
      project: z.string(),
      type: IssueType,
      status: Status,
      priority: Priority,
      points: z.int().nullable(),
      assignee: ref('member').nullable(),
      sprint: ref('sprint').nullable(),
      release: ref('release').nullable(),
      // Plain text: a second reference to an issue would make "that issue" ambiguous.
      blocked_by: z.array(z.string()).describe('Unfinished issues that block it'),
    }),
    pages: { blocked_by: 'short' },
    annotations: { readOnly: true },
    sample({ db, random, bound }) {
      const issues = choices(db.issues, bound.issue, () => true)
      return issues.length === 0 ? null : { issue: random.pick(issues).issue }
    },
    run({ issue: key }, context) {
      const issue = context.rowOf('issues', key)
      return { ...issue, blocked_by: openBlockers(context.db, issue) }
    },
  }),

  tool({
    name: 'list_project_members',
    description: 'Lists the members of a project that have a role.',
    input: z.strictObject({ project: ref('project'), role: Role.describe('Only members with this role.') }),
    output: z.object({
      members: z.array(
        z.object({
          name: z.string(),
          member: ref('member'),
          in_progress: z.int().describe('Issues the member is working on'),
          wip_limit: z.int(),
        }),
      ),
    }),
    pages: { members: 'short' },
    annotations: { readOnly: true },
    sample({ db, random, bound }) {
      const roles = bound.role === undefined ? random.shuffle(ROLES.filter((role) => role !== 'guest')) : [bound.role]
      const [project] = random.sample(
        choices(db.projects, bound.project, () => true),
        1,
      )
      if (!project) return null
      const role = roles.find((role) =>
        db.members.find((member) => member.role === role && member.projects.includes(project.project)),
      )
      return role === undefined ? null : { project: project.project, role }
    },
    run({ project, role }, context) {
      context.rowOf('projects', project)
      const members = context.db.members.list((member) => member.role === role && member.projects.includes(project))
      return { members }
    },
  }),

  tool({
    name: 'list_sprints',
    description: 'Lists the sprints of a project that are planned, active or closed.',
    input: z.strictObject({ project: ref('project'), state: SprintState.describe('Only sprints in this state.') }),
    output: z.object({
      sprints: z.array(
        z.object({
          name: z.string(),
          sprint: ref('sprint'),
          points: z.int().describe('Points of its issues'),
          capacity: z.int().describe('Points it can hold'),
        }),
      ),
    }),
    pages: { sprints: 'short' },
    annotations: { readOnly: true },
    sample({ db, random, bound }) {
      const states = bound.state === undefined ? random.shuffle(SPRINT_STATES) : [bound.state]
      const [project] = random.sample(
        choices(db.projects, bound.project, () => true),
        1,
      )
      if (!project) return null
      const state = states.find((state) =>
        db.sprints.find((sprint) => sprint.state === state && sprint.project === project.project),
      )
      return state === undefined ? null : { project: project.project, state }
    },
    run({ project, state }, context) {
      context.rowOf('projects', project)
      const sprints = context.db.sprints.list((sprint) => sprint.project === project && sprint.state === state)
      return { sprints }
    },
  }),

  tool({
    name: 'list_releases',
    description: 'Lists the releases of a project that are not shipped yet.',
    input: z.strictObject({ project: ref('project') }),
    output: z.object({
      releases: z.array(
        z.object({
          name: z.string(),
          release: ref('release'),
          due: z.string(),
          unfinished: z.int().describe('Issues not done'),
        }),
      ),
    }),
    pages: { releases: 'short' },
    annotations: { readOnly: true },
    sample({ db, random, bound }) {
      const projects = choices(db.projects, bound.project, ({ project }) =>
        db.releases.list().some((release) => release.project === project && !release.shipped),
      )
      return projects.length === 0 ? null : { project: random.pick(projects).project }
    },
    run({ project }, context) {
      context.rowOf('projects', project)
      const { releases, issues } = context.db
      return {
        releases: releases
          .list((release) => release.project === project && !release.shipped)
          .map((row) => ({
            ...row,
            unfinished: issues.count(({ release, status }) => release === row.release && status !== 'done'),
          })),
      }
    },
  }),
]
