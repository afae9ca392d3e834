import { z } from 'zod'
import { choices } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { isArchived, liveIssue, openIssue } from '../rules.js'
import { type Db, type Issue, type Release, SPRINT_DAYS, type Sprint, SprintState, tool } from '../schema.js'

const DAY_MS = 86_400_000

const daysAfter = (date: string, days: number): string =>
  new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10)

const fitsSprint = (issue: Issue, sprint: Sprint): boolean =>
  issue.project === sprint.project &&
  issue.sprint !== sprint.sprint &&
  sprint.state !== 'closed' &&
  issue.points !== null &&
  sprint.points + issue.points <= sprint.capacity

const fitsRelease = (issue: Issue, release: Release): boolean =>
  issue.project === release.project && issue.release !== release.release && !release.shipped

const issuesIn = (db: Db, sprint: string): Issue[] => db.issues.list((issue) => issue.sprint === sprint)

const isReady = (db: Db, { release, shipped }: Release): boolean => {
  const issues = db.issues.list((issue) => issue.release === release)
  return !shipped && issues.length > 0 && issues.every(({ status }) => status === 'done')
}

export const planning = [
  tool({
    name: 'add_to_sprint',
    description: 'Puts an estimated, unfinished issue into a planned or active sprint of its project.',
    input: z.strictObject({ issue: ref('issue'), sprint: ref('sprint') }),
    output: z.object({
      title: z.string(),
      issue: ref('issue'),
      sprint: ref('sprint'),
      free: z.int().describe('Points the sprint has left'),
    }),
    annotations: { readOnly: false },
    establishes: ['sprint_filled'],
    needs: ['issue_estimated'],
    sample({ db, random, bound }) {
      for (const issue of random.shuffle(choices(db.issues, bound.issue, ({ status }) => status === 'todo'))) {
        const sprints = choices(db.sprints, bound.sprint, (sprint) => fitsSprint(issue, sprint))
        if (sprints.length > 0) return { issue: issue.issue, sprint: random.pick(sprints).sprint }
      }
      return null
    },
    run({ issue: key, sprint: target }, context) {
      const { rowOf, db, fail } = context
      const { title, project, points, sprint: previous } = openIssue(context, key)
      const sprint = rowOf('sprints', target)
      if (sprint.project !== project) fail('different_project', `${target} belongs to ${sprint.project}.`)
      if (sprint.state === 'closed') fail('sprint_closed', `${target} is closed.`)
      if (previous === target) fail('already_in_sprint')
      if (points === null) return fail('not_estimated', `${key} has no estimate.`)
      const free = sprint.capacity - sprint.points - points
      if (free < 0) fail('sprint_full', `${key} has ${points} points, but ${target} only ${free + points} left.`)
      if (previous !== null) db.sprints.update(previous, { points: db.sprints.get(previous)!.points - points })
      db.sprints.update(target, { points: sprint.points + points })
      db.issues.update(key, { sprint: target })
      return { title, issue: key, sprint: target, free }
    },
  }),

  tool({
    name: 'start_sprint',
    description: 'Starts a planned sprint that has issues. A project has at most one active sprint.',
    input: z.strictObject({ sprint: ref('sprint') }),
    output: z.object({ name: z.string(), sprint: ref('sprint'), state: SprintState, ends: z.string() }),
    annotations: { readOnly: false },
    establishes: ['sprint_active'],
    needs: ['sprint_filled', 'no_active_sprint'],
    sample({ db, random, bound }) {
      const sprints = choices(
        db.sprints,
        bound.sprint,
        ({ sprint, project, state }) =>
          state === 'planned' &&
          db.projects.get(project)?.active_sprint === null &&
          db.issues.find((issue) => issue.sprint === sprint) !== undefined,
      )
      return sprints.length === 0 ? null : { sprint: random.pick(sprints).sprint }
    },
    run({ sprint: key }, { rowOf, db, fail, today }) {
      const { project, state } = rowOf('sprints', key)
      if (state === 'closed') fail('sprint_closed', `${key} is closed.`)
      if (state === 'active') fail('sprint_already_active')
      const running = db.projects.get(project)!.active_sprint
      if (running !== null) fail('another_sprint_active', `${project} is still in ${running}: close it first.`)
      if (issuesIn(db, key).length === 0) fail('sprint_empty', `${key} has no issues.`)
      const ends = daysAfter(today(), SPRINT_DAYS)
      db.projects.update(project, { active_sprint: key })
      return { ...db.sprints.update(key, { state: 'active', ends }), ends }
    },
  }),

  tool({
    name: 'close_sprint',
    description:
      'Closes the active sprint. Its unfinished issues return to the backlog; the sprint never changes again.',
    input: z.strictObject({ sprint: ref('sprint') }),
    output: z.object({
      name: z.string(),
      sprint: ref('sprint'),
      state: SprintState,
      finished: z.int().describe('Issues done'),
      returned: z.int().describe('Issues back in the backlog'),
    }),
    annotations: { readOnly: false, destructive: true },
    establishes: ['no_active_sprint'],
    needs: ['sprint_active'],
    sample({ db, random, bound }) {
      const sprints = choices(db.sprints, bound.sprint, ({ state }) => state === 'active')
      return sprints.length === 0 ? null : { sprint: random.pick(sprints).sprint }
    },
    run({ sprint: key }, { rowOf, db, fail, today }) {
      const { name, project, state } = rowOf('sprints', key)
      if (state === 'closed') fail('sprint_closed', `${key} is already closed.`)
      if (state === 'planned') fail('sprint_not_active', `${key} is only planned.`)
      const finished = issuesIn(db, key).filter(({ status }) => status === 'done')
      const returned = issuesIn(db, key).filter(({ status }) => status !== 'done')
      for (const { issue } of returned) db.issues.update(issue, { sprint: null })
      const points = finished.reduce((sum, issue) => sum + (issue.points ?? 0), 0)
      db.sprints.update(key, { state: 'closed', points, ends: today() })
      db.projects.update(project, { active_sprint: null })
      return { name, sprint: key, state: 'closed' as const, finished: finished.length, returned: returned.length }
    },
  }),

  tool({
    name: 'add_to_release',
    description: 'Puts an issue, finished or not, into a release of its project that is not shipped yet.',
    input: z.strictObject({ issue: ref('issue'), release: ref('release') }),
    output: z.object({ title: z.string(), issue: ref('issue'), release: ref('release'), due: z.string() }),
    annotations: { readOnly: false },
    establishes: ['release_filled'],
    sample({ db, random, bound }) {
      const live = choices(db.issues, bound.issue, (issue) => !isArchived(db, issue))
      for (const issue of random.shuffle(live)) {
        const releases = choices(db.releases, bound.release, (release) => fitsRelease(issue, release))
        if (releases.length > 0) return { issue: issue.issue, release: random.pick(releases).release }
      }
      return null
    },
    run({ issue: key, release: target }, context) {
      const { rowOf, db, fail } = context
      const { title, project, release: previous } = liveIssue(context, key)
      const release = rowOf('releases', target)
      if (release.project !== project) fail('different_project', `${target} belongs to ${release.project}.`)
      if (release.shipped) fail('release_shipped', `${target} is already shipped.`)
      if (previous === target) fail('already_in_release')
      db.issues.update(key, { release: target })
      return { title, issue: key, release: target, due: release.due }
    },
  }),

  tool({
    name: 'ship_release',
    description: 'Ships a release all of whose issues are done. The release and its issues become read-only.',
    input: z.strictObject({ release: ref('release') }),
    output: z.object({ name: z.string(), release: ref('release'), shipped: z.boolean(), issues: z.int() }),
    annotations: { readOnly: false, destructive: true },
    needs: ['issue_done', 'release_filled'],
    sample({ db, random, bound }) {
      const ready = choices(db.releases, bound.release, (release) => isReady(db, release))
      return ready.length === 0 ? null : { release: random.pick(ready).release }
    },
    run({ release: key }, { rowOf, db, fail }) {
      if (rowOf('releases', key).shipped) fail('release_shipped', `${key} is already shipped.`)
      const issues = db.issues.list((issue) => issue.release === key)
      if (issues.length === 0) fail('release_empty', `${key} has no issues.`)
      const unfinished = issues.find(({ status }) => status !== 'done')
      if (unfinished) fail('release_incomplete', `${unfinished.issue} is still ${unfinished.status}.`)
      return { ...db.releases.update(key, { shipped: true }), issues: issues.length }
    },
  }),
]
