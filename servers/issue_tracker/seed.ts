import type { SeedContext, SeedRows } from '../kernel/define-environment.js'
import type { SeededRandom } from '../kernel/random.js'
import {
  type Comment,
  type Issue,
  type Link,
  type Member,
  PRIORITIES,
  type Project,
  type Release,
  type Sprint,
  TYPES,
  type tables,
  URGENT_QUOTA,
} from './schema.js'
import {
  commentOn,
  FIRST_NAMES,
  GOALS,
  LAST_NAMES,
  labelsFor,
  PROJECTS,
  releaseName,
  SUBJECTS,
  titleOf,
} from './words.js'

const PROJECT_COUNT = 5
const TEAM: readonly Member['role'][] = ['developer', 'developer', 'developer', 'tester', 'designer', 'guest']
const ESTIMATES = [1, 2, 3, 5, 8]
const DAY_MS = 86_400_000

/** A tracker of five projects in mid-flight: about 70 issues, 30 members, 17 sprints and 13 releases. */
export function seed({ random, start }: SeedContext): SeedRows<typeof tables> {
  const day = (offset: number) => new Date(Date.parse(start) + offset * DAY_MS).toISOString().slice(0, 10)
  const chosen = random.sample(PROJECTS, PROJECT_COUNT)
  const members = hire(
    chosen.map(([project]) => project),
    random,
  )
  const projects: Project[] = []
  const issues: Issue[] = []
  const sprints: Sprint[] = []
  const releases: Release[] = []
  const names = { goals: random.shuffle(GOALS), releases: new Set<string>(), titles: new Set<string>() }
  const numbers = { sprint: random.int(11, 50), release: random.int(11, 60) }

  for (const [index, [project, name]] of chosen.entries()) {
    const team = members.filter((member) => member.projects.includes(project))
    let number = random.int(3, 30)

    const add = (status: Issue['status'], sprint: string | null, release: string | null): Issue => {
      number += random.int(1, 2)
      const type = random.pick(TYPES)
      const title = newTitle(type, names.titles, random)
      const placed = place(status, team, sprint !== null && random.chance(0.6), random)
      const open = issues.filter((issue) => issue.project === project && issue.status !== 'done')
      const priority = random.pick(PRIORITIES)
      const urgentUsed = open.filter((issue) => issue.priority === 'urgent').length >= URGENT_QUOTA
      const issue: Issue = {
        issue: `${project}-${number}`,
        project,
        title,
        type,
        priority: priority === 'urgent' && urgentUsed ? 'high' : priority,
        ...placed,
        points: sprint !== null || random.chance(0.6) ? random.pick(ESTIMATES) : null,
        sprint,
        release,
        labels: random.sample(labelsFor({ title, type }), random.int(0, 2)),
        watchers: random.sample(team, random.int(0, 2)).map(({ member }) => member),
      }
      issues.push(issue)
      return issue
    }

    const newRelease = (due: number, shipped: boolean): string => {
      const release = `release-${numbers.release++}`
      let called = releaseName(random)
      while (names.releases.has(called)) called = releaseName(random)
      names.releases.add(called)
      releases.push({ release, project, name: called, due: day(due), shipped })
      return release
    }

    const newSprint = (state: Sprint['state'], ends: number | null, fill: (sprint: string) => Issue[]): string => {
      const sprint = `sprint-${numbers.sprint++}`
      const points = fill(sprint).reduce((sum, issue) => sum + (issue.points ?? 0), 0)
      sprints.push({
        sprint,
        project,
        name: names.goals.pop()!,
        state,
        capacity: points + (state === 'closed' ? random.int(0, 5) : random.int(3, 16)),
        points,
        ends: ends === null ? null : day(ends),
      })
      return sprint
    }

    const several = (low: number, high: number, make: () => Issue): Issue[] =>
      Array.from({ length: random.int(low, high) }, make)

    const shipped = newRelease(-random.int(5, 40), true)
    const next = newRelease(random.int(7, 30), false)
    // The first project always has a release that could be shipped right away.
    const later = index === 0 || random.chance(0.5) ? newRelease(random.int(31, 90), false) : null
    for (let past = random.int(1, 2); past > 0; past--) {
      const release = past === 1 ? shipped : random.pick([shipped, later])
      newSprint('closed', -14 * past - random.int(1, 3), (sprint) => several(2, 3, () => add('done', sprint, release)))
    }
    several(1, 2, () => add('done', null, index === 0 ? later : random.pick([null, later, next])))

    // The first project has no active sprint and the second has one, so that every environment lets a sprint start and end.
    const hasActive = index !== 0 && (index === 1 || random.chance(0.5))
    const active = hasActive
      ? newSprint('active', random.int(1, 12), (sprint) => [
          add('done', sprint, random.pick([null, next])),
          add('review', sprint, random.pick([null, next])),
          ...several(1, 3, () => add('in_progress', sprint, random.chance(0.3) ? next : null)),
          add('todo', sprint, null),
        ])
      : null
    newSprint('planned', null, (sprint) => several(2, 3, () => add('todo', sprint, random.chance(0.3) ? next : null)))
    if (random.chance(0.5)) newSprint('planned', null, () => [])
    several(3, 5, () => add(random.pick(['todo', 'todo', 'todo', 'in_progress', 'review']), null, null))
    projects.push({ project, name, last_number: number, active_sprint: active })
  }
  return {
    projects,
    members,
    issues,
    sprints,
    releases,
    links: blocks(issues, random),
    comments: talk(issues, random, day),
  }
}

function hire(projects: readonly string[], random: SeededRandom): Member[] {
  const members = new Map<string, Member>()
  for (const project of projects) {
    for (const role of TEAM) {
      if (role === 'developer' && random.chance(0.2)) continue
      let name = ''
      let member = ''
      do {
        name = `${random.pick(FIRST_NAMES)} ${random.pick(LAST_NAMES)}`
        member = name.toLowerCase().replace(' ', '-')
      } while (members.has(member))
      const second = random.chance(0.25) ? random.pick(projects) : project
      members.set(member, {
        member,
        name,
        role,
        projects: second === project ? [project] : [project, second],
        wip_limit: random.int(1, 3),
        in_progress: 0,
      })
    }
  }
  return [...members.values()]
}

/** A status and assignee that keep to the limits of the team: who can start nothing more leaves the issue as todo. */
function place(
  status: Issue['status'],
  team: Member[],
  wanted: boolean,
  random: SeededRandom,
): Pick<Issue, 'status' | 'assignee'> {
  const workers = team.filter(({ role }) => role !== 'guest')
  if (status === 'todo') return { status, assignee: wanted ? random.pick(workers).member : null }
  if (status !== 'in_progress') return { status, assignee: random.pick(workers).member }
  const free = workers.filter(({ in_progress, wip_limit }) => in_progress < wip_limit)
  if (free.length === 0) return { status: 'todo', assignee: random.pick(workers).member }
  const worker = random.pick(free)
  worker.in_progress++
  return { status, assignee: worker.member }
}

function newTitle(type: Issue['type'], taken: Set<string>, random: SeededRandom): string {
  let title = ''
  do title = titleOf(type, random.pick(SUBJECTS), random)
  while (taken.has(title))
  taken.add(title)
  return title
}

/** Later issues wait for earlier ones of their project, so there is no cycle; what is done waits for nothing open. */
function blocks(issues: readonly Issue[], random: SeededRandom): Link[] {
  const links: Link[] = []
  for (const [index, { issue, project, status }] of issues.entries()) {
    if (!random.chance(status === 'review' ? 0.4 : 0.2)) continue
    const earlier = issues.slice(0, index).filter((other) => {
      if (other.project !== project) return false
      return status === 'done' ? other.status === 'done' : other.status !== 'done' || random.chance(0.2)
    })
    if (earlier.length === 0) continue
    const blocker = random.pick(earlier).issue
    links.push({ link: `${issue}<${blocker}`, issue, blocker })
  }
  return links
}

function talk(issues: readonly Issue[], random: SeededRandom, day: (offset: number) => string): Comment[] {
  return Array.from({ length: random.int(25, 40) }, (_, index) => {
    const issue = random.pick(issues)
    return {
      comment: `comment-${10 + index}`,
      issue: issue.issue,
      text: commentOn(issue, random),
      written: day(-random.int(0, 20)),
    }
  })
}
