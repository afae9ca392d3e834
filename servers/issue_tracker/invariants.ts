import type { DbView, Invariant } from '../kernel/define-environment.js'
import { openBlockers, waitsFor } from './rules.js'
import { type Issue, type tables, URGENT_QUOTA } from './schema.js'

type View = DbView<typeof tables>

const pointsOf = (issues: readonly Issue[]): number => issues.reduce((sum, { points }) => sum + (points ?? 0), 0)

const invariant = (name: string, check: (now: View, seed: View) => string | undefined): Invariant<typeof tables> => ({
  name,
  check,
})

export const invariants = [
  invariant(
    'blocking links have no cycle',
    (db) => db.links.find(({ issue, blocker }) => waitsFor(db, blocker, issue))?.link,
  ),

  invariant('nothing is done before what blocks it', (db) => {
    const early = db.issues.find((issue) => issue.status === 'done' && openBlockers(db, issue).length > 0)
    return early?.issue
  }),

  invariant('a project has at most one active sprint, and its record names it', ({ projects, sprints }) => {
    const wrong = projects.find(({ project, active_sprint }) => {
      const active = sprints.list((sprint) => sprint.project === project && sprint.state === 'active')
      return active.length > 1 || (active[0]?.sprint ?? null) !== active_sprint
    })
    return wrong?.project
  }),

  invariant('the points of a sprint are those of its issues and within its capacity', ({ sprints, issues }) => {
    const wrong = sprints.find(({ sprint, project, points, capacity }) => {
      const inside = issues.list((issue) => issue.sprint === sprint)
      const misplaced = inside.some((issue) => issue.project !== project || issue.points === null)
      return misplaced || points !== pointsOf(inside) || points > capacity
    })
    return wrong?.sprint
  }),

  invariant('a closed sprint holds finished issues only and never changes', ({ sprints, issues }, seed) => {
    const unfinished = issues.find(
      ({ sprint, status }) => sprint !== null && status !== 'done' && sprints.get(sprint)?.state === 'closed',
    )
    if (unfinished) return unfinished.issue
    const contents = (issues: View['issues'], sprint: string) =>
      issues
        .list((issue) => issue.sprint === sprint)
        .map(({ issue, status, points }) => `${issue} ${status} ${points}`)
        .join()
    const changed = seed.sprints.find(
      (before) =>
        before.state === 'closed' &&
        (JSON.stringify(sprints.get(before.sprint)) !== JSON.stringify(before) ||
          contents(issues, before.sprint) !== contents(seed.issues, before.sprint)),
    )
    return changed?.sprint
  }),

  invariant('members have as many issues in progress as recorded and allowed', ({ members, issues }) => {
    const wrong = members.find(({ member, in_progress, wip_limit }) => {
      const working = issues.count(({ assignee, status }) => assignee === member && status === 'in_progress')
      return working !== in_progress || working > wip_limit
    })
    return wrong?.member
  }),

  invariant('issues are in the hands of working members of their project', ({ members, issues }) => {
    const wrong = issues.find(({ assignee, project, status, watchers }) => {
      const belongs = (member: string) => members.get(member)?.projects.includes(project) === true
      if (!watchers.every(belongs) || new Set(watchers).size !== watchers.length) return true
      if (assignee === null) return status === 'in_progress' || status === 'review'
      return !belongs(assignee) || members.get(assignee)?.role === 'guest'
    })
    return wrong?.issue
  }),

  invariant('issue numbers go on from the counter of the project', ({ projects, issues }) => {
    const wrong = issues.find(({ issue, project }) => {
      const number = Number(issue.slice(project.length + 1))
      return issue !== `${project}-${number}` || number > (projects.get(project)?.last_number ?? 0)
    })
    return wrong?.issue
  }),

  invariant('a shipped release holds finished issues of its project', ({ releases, issues }, seed) => {
    const wrong = releases.find(({ release, project, shipped }) => {
      const inside = issues.list((issue) => issue.release === release)
      if (inside.some((issue) => issue.project !== project)) return true
      if (seed.releases.get(release)?.shipped && !shipped) return true
      return shipped && (inside.length === 0 || inside.some(({ status }) => status !== 'done'))
    })
    return wrong?.release
  }),

  invariant('a project has few urgent open issues', ({ projects, issues }) => {
    const wrong = projects.find(
      (row) =>
        issues.count(
          ({ project, priority, status }) => project === row.project && priority === 'urgent' && status !== 'done',
        ) > URGENT_QUOTA,
    )
    return wrong?.project
  }),

  invariant('links and comments belong to issues that exist', ({ links, comments, issues }) => {
    const loose = links.find(({ issue, blocker }) => !issues.has(issue) || !issues.has(blocker))
    return loose?.link ?? comments.find(({ issue }) => !issues.has(issue))?.comment
  }),
]
