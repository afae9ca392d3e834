import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { issueTracker } from '../../../servers/issue_tracker/index.js'
import { openBlockers } from '../../../servers/issue_tracker/rules.js'
import {
  type Db,
  type FailureCode,
  type Issue,
  MAX_LABELS,
  type Member,
  URGENT_QUOTA,
} from '../../../servers/issue_tracker/schema.js'
import { generateSeedState, Session } from '../../../servers/kernel/session.js'
import { checkEnvironmentContract, type Provocation } from '../../support/environment-contract.js'

const dbOf = (session: Session): Db => session.db as unknown as Db

/** The call's output; fails the test when the call fails. */
function done(session: Session, tool: string, args: Record<string, unknown>): Record<string, unknown> {
  const result = session.call(tool, args)
  assert.ok(result.ok, result.ok ? '' : `${tool} ${JSON.stringify(args)}: ${result.code}`)
  return result.ok ? { ...result.output } : {}
}

function found<R>(row: R | undefined): R {
  if (row === undefined) throw new Error('the seed has no such row')
  return row
}

/** A new issue in the first project: todo, medium, without assignee, points, sprint and release. */
function fresh(session: Session, title = 'Polish the brass', project = firstProject(session)): string {
  return String(done(session, 'create_issue', { project, type: 'task', title }).issue)
}

/** The first project: the seed gives it no active sprint, a planned sprint with issues, and a release ready to ship. */
const firstProject = (session: Session): string => found(dbOf(session).projects.list()[0]).project

const issue = (session: Session, where: (row: Issue) => boolean): Issue => found(dbOf(session).issues.find(where))
const isOpen = ({ status }: Issue): boolean => status !== 'done'

function worker(session: Session, project: string, where: (row: Member) => boolean = () => true): string {
  return found(
    dbOf(session).members.find((row) => row.role !== 'guest' && row.projects.includes(project) && where(row)),
  ).member
}

const free = ({ in_progress, wip_limit }: Member): boolean => in_progress < wip_limit

/** A new issue of the first project, walked along the workflow until it has `status`. */
function walked(session: Session, status: 'in_progress' | 'review' | 'done', title?: string): string {
  const key = fresh(session, title)
  done(session, 'assign_issue', { issue: key, member: worker(session, firstProject(session), free) })
  for (const step of ['in_progress', 'review', 'done']) {
    done(session, 'move_issue', { issue: key, status: step })
    if (step === status) break
  }
  return key
}

/** Fills the quota of urgent open issues of the first project. */
function fillUrgentQuota(session: Session): void {
  const { project, used } = urgent(session)
  for (let i = used; i < URGENT_QUOTA; i++)
    done(session, 'create_issue', { project, type: 'bug', title: `Fire number ${i}`, priority: 'urgent' })
}

function urgent(session: Session): { project: string; used: number } {
  const project = firstProject(session)
  const used = dbOf(session).issues.count((row) => row.project === project && row.priority === 'urgent' && isOpen(row))
  return { project, used }
}

const sprintOf = (session: Session, state: string, project?: string): string =>
  found(dbOf(session).sprints.find((row) => row.state === state && (project ?? row.project) === row.project)).sprint

const releaseOf = (session: Session, shipped: boolean): { release: string; project: string } =>
  found(dbOf(session).releases.find((row) => row.shipped === shipped))

const archived = (session: Session): string => {
  const { release } = releaseOf(session, true)
  return issue(session, (row) => row.release === release).issue
}

const provoke: Record<FailureCode, Provocation> = {
  unknown_project: () => ['list_releases', { project: 'NOPE' }],
  unknown_issue: () => ['show_issue', { issue: 'WEB-999' }],
  unknown_member: () => ['list_assigned_issues', { member: 'nobody-known' }],
  unknown_sprint: () => ['start_sprint', { sprint: 'sprint-999' }],
  unknown_release: () => ['ship_release', { release: 'release-999' }],
  duplicate_title: (session) => {
    const { project, title } = issue(session, isOpen)
    return ['create_issue', { project, type: 'task', title: title.toUpperCase() }]
  },
  issue_closed: (session) => ['set_priority', { issue: issue(session, (row) => !isOpen(row)).issue, priority: 'low' }],
  issue_archived: (session) => ['comment_on_issue', { issue: archived(session), comment: 'too late' }],
  not_a_project_member: (session) => {
    const { issue: key, project } = issue(session, isOpen)
    const stranger = found(dbOf(session).members.find(({ projects }) => !projects.includes(project)))
    return ['assign_issue', { issue: key, member: stranger.member }]
  },
  guest_cannot_work: (session) => {
    const project = firstProject(session)
    const guest = found(dbOf(session).members.find((row) => row.role === 'guest' && row.projects.includes(project)))
    return ['assign_issue', { issue: fresh(session), member: guest.member }]
  },
  already_assigned: (session) => {
    const { issue: key, assignee } = issue(session, (row) => isOpen(row) && row.assignee !== null)
    return ['assign_issue', { issue: key, member: assignee }]
  },
  issue_unassigned: (session) => ['move_issue', { issue: fresh(session), status: 'in_progress' }],
  wip_limit_reached: (session) => {
    const project = firstProject(session)
    const member = worker(session, project)
    const { wip_limit, in_progress } = found(dbOf(session).members.get(member))
    const keys = Array.from({ length: wip_limit - in_progress + 1 }, (_, i) => fresh(session, `Busy work ${i}`))
    for (const key of keys) done(session, 'assign_issue', { issue: key, member })
    for (const key of keys.slice(1)) done(session, 'move_issue', { issue: key, status: 'in_progress' })
    return ['move_issue', { issue: keys[0], status: 'in_progress' }]
  },
  transition_not_allowed: (session) => ['move_issue', { issue: fresh(session), status: 'done' }],
  issue_blocked: (session) => {
    const key = walked(session, 'review')
    done(session, 'block_issue', { issue: key, blocker: fresh(session, 'Find the key') })
    return ['move_issue', { issue: key, status: 'done' }]
  },
  dependents_done: (session) => {
    const key = walked(session, 'review')
    const blocker = walked(session, 'review', 'Find the key')
    done(session, 'block_issue', { issue: key, blocker })
    for (const each of [blocker, key]) done(session, 'move_issue', { issue: each, status: 'done' })
    return ['move_issue', { issue: blocker, status: 'todo' }]
  },
  too_many_urgent: (session) => {
    fillUrgentQuota(session)
    return ['set_priority', { issue: fresh(session), priority: 'urgent' }]
  },
  not_estimated: (session) => {
    const project = firstProject(session)
    return ['add_to_sprint', { issue: fresh(session), sprint: sprintOf(session, 'planned', project) }]
  },
  sprint_full: (session) => {
    const project = firstProject(session)
    const sprint = sprintOf(session, 'planned', project)
    for (let i = 0; ; i++) {
      const key = fresh(session, `Large task ${i}`)
      done(session, 'estimate_issue', { issue: key, points: 13 })
      const { capacity, points } = found(dbOf(session).sprints.get(sprint))
      if (points + 13 > capacity) return ['add_to_sprint', { issue: key, sprint }]
      done(session, 'add_to_sprint', { issue: key, sprint })
    }
  },
  sprint_closed: (session) => ['start_sprint', { sprint: sprintOf(session, 'closed') }],
  sprint_not_active: (session) => ['close_sprint', { sprint: sprintOf(session, 'planned') }],
  sprint_already_active: (session) => ['start_sprint', { sprint: sprintOf(session, 'active') }],
  another_sprint_active: (session) => {
    const { project } = found(dbOf(session).projects.find(({ active_sprint }) => active_sprint !== null))
    return ['start_sprint', { sprint: sprintOf(session, 'planned', project) }]
  },
  sprint_empty: (session) => {
    const empty = dbOf(session).sprints.find(
      ({ state, points, project }) =>
        state === 'planned' && points === 0 && dbOf(session).projects.get(project)?.active_sprint === null,
    )
    return ['start_sprint', { sprint: found(empty).sprint }]
  },
  already_in_sprint: (session) => {
    const { issue: key, sprint } = issue(session, (row) => isOpen(row) && row.sprint !== null)
    return ['add_to_sprint', { issue: key, sprint }]
  },
  different_project: (session) => {
    const { issue: key, project } = issue(session, (row) => isOpen(row) && row.points !== null)
    const elsewhere = found(dbOf(session).sprints.find((row) => row.project !== project && row.state === 'planned'))
    return ['add_to_sprint', { issue: key, sprint: elsewhere.sprint }]
  },
  already_in_release: (session) => {
    const upcoming = new Set(
      dbOf(session)
        .releases.list(({ shipped }) => !shipped)
        .map(({ release }) => release),
    )
    const { issue: key, release } = issue(session, (row) => row.release !== null && upcoming.has(row.release))
    return ['add_to_release', { issue: key, release }]
  },
  release_shipped: (session) => ['ship_release', { release: releaseOf(session, true).release }],
  release_empty: (session) => {
    const used = new Set(
      dbOf(session)
        .issues.list()
        .map(({ release }) => release),
    )
    return [
      'ship_release',
      { release: found(dbOf(session).releases.find(({ release }) => !used.has(release))).release },
    ]
  },
  release_incomplete: (session) => {
    const { release, project } = releaseOf(session, false)
    done(session, 'add_to_release', { issue: fresh(session, 'One more thing', project), release })
    return ['ship_release', { release }]
  },
  already_labelled: (session) => {
    const key = fresh(session)
    done(session, 'label_issue', { issue: key, label: 'mobile' })
    return ['label_issue', { issue: key, label: 'mobile' }]
  },
  too_many_labels: (session) => {
    const key = fresh(session)
    for (const label of ['mobile', 'legal', 'design', 'flaky'].slice(0, MAX_LABELS))
      done(session, 'label_issue', { issue: key, label })
    return ['label_issue', { issue: key, label: 'vendor' }]
  },
  already_watching: (session) => {
    const args = { issue: fresh(session), member: worker(session, firstProject(session)) }
    done(session, 'watch_issue', args)
    return ['watch_issue', args]
  },
  already_linked: (session) => {
    const args = { issue: fresh(session), blocker: fresh(session, 'Find the key') }
    done(session, 'block_issue', args)
    return ['block_issue', args]
  },
  link_cycle: (session) => {
    const [first, second, third] = ['Lay the floor', 'Paint the wall', 'Hang the lamp'].map((it) => fresh(session, it))
    done(session, 'block_issue', { issue: second, blocker: first })
    done(session, 'block_issue', { issue: third, blocker: second })
    return ['block_issue', { issue: first, blocker: third }]
  },
}

const open = (seed = 1): Session => Session.open(generateSeedState(issueTracker, seed))

test('a new issue takes the next number of its project', () => {
  const session = open()
  const project = firstProject(session)
  const before = found(dbOf(session).projects.get(project)).last_number
  assert.is(fresh(session), `${project}-${before + 1}`)
  assert.is(fresh(session, 'Sweep the yard'), `${project}-${before + 2}`)
})

test('an issue cannot block itself', () => {
  const session = open()
  const key = fresh(session)
  const result = session.call('block_issue', { issue: key, blocker: key })
  assert.is(result.ok || result.code, 'link_cycle')
})

test('an urgent issue can be reopened only while the quota has room', () => {
  const session = open()
  const project = firstProject(session)
  const used = dbOf(session).issues.list((row) => row.project === project && row.priority === 'urgent' && isOpen(row))
  for (const row of used) done(session, 'set_priority', { issue: row.issue, priority: 'high' })
  const key = walked(session, 'review')
  done(session, 'set_priority', { issue: key, priority: 'urgent' })
  done(session, 'move_issue', { issue: key, status: 'done' })
  fillUrgentQuota(session)
  const refused = session.call('move_issue', { issue: key, status: 'todo' })
  assert.is(refused.ok || refused.code, 'too_many_urgent')
  const other = issue(session, (row) => row.project === project && row.priority === 'urgent' && isOpen(row))
  done(session, 'set_priority', { issue: other.issue, priority: 'low' })
  assert.is(done(session, 'move_issue', { issue: key, status: 'todo' }).status, 'todo')
})

test('handing over an issue in progress moves the load from one member to the other', () => {
  const session = open()
  const project = firstProject(session)
  const key = walked(session, 'in_progress')
  const from = found(found(dbOf(session).issues.get(key)).assignee ?? undefined)
  const to = worker(session, project, (row) => row.member !== from && free(row))
  const load = (member: string) => found(dbOf(session).members.get(member)).in_progress
  const [fromBefore, toBefore] = [load(from), load(to)]
  done(session, 'assign_issue', { issue: key, member: to })
  assert.equal([load(from), load(to)], [fromBefore - 1, toBefore + 1])
  assert.equal(session.violations(), [])
})

test('closing a sprint keeps what is done, returns the rest and seals the sprint', () => {
  const session = open()
  const sprint = sprintOf(session, 'active')
  const inside = dbOf(session).issues.list((row) => row.sprint === sprint)
  const finished = inside.filter((row) => !isOpen(row))
  const { finished: kept, returned } = done(session, 'close_sprint', { sprint })
  assert.equal([kept, returned], [finished.length, inside.length - finished.length])
  const row = found(dbOf(session).sprints.get(sprint))
  assert.is(
    row.points,
    finished.reduce((sum, { points }) => sum + (points ?? 0), 0),
  )
  const sealed = issue(session, (row) => row.sprint === sprint)
  const refused = session.call('move_issue', { issue: sealed.issue, status: 'todo' })
  assert.is(refused.ok || refused.code, 'sprint_closed')
  assert.equal(session.violations(), [])
})

test('a sprint can be started once the one before it is closed, and ends two weeks later', () => {
  const session = open()
  const active = sprintOf(session, 'active')
  const { project } = found(dbOf(session).sprints.get(active))
  const sprint = sprintOf(session, 'planned', project)
  done(session, 'close_sprint', { sprint: active })
  assert.is(done(session, 'start_sprint', { sprint }).ends, '2026-03-16')
})

test('moving an issue between sprints takes its points along', () => {
  const session = open()
  const active = found(dbOf(session).sprints.find((row) => row.state === 'active'))
  const planned = found(dbOf(session).sprints.get(sprintOf(session, 'planned', active.project)))
  const key = fresh(session, 'Small thing', active.project)
  done(session, 'estimate_issue', { issue: key, points: 1 })
  done(session, 'add_to_sprint', { issue: key, sprint: planned.sprint })
  done(session, 'add_to_sprint', { issue: key, sprint: active.sprint })
  const points = (sprint: string) => found(dbOf(session).sprints.get(sprint)).points
  assert.equal([points(planned.sprint), points(active.sprint)], [planned.points, active.points + 1])
})

test('an estimate that bursts the sprint is refused', () => {
  const session = open()
  const { issues, sprints } = dbOf(session)
  const tight = found(
    issues.find((row) => {
      const sprint = row.sprint === null ? undefined : sprints.get(row.sprint)
      return isOpen(row) && sprint !== undefined && sprint.points - (row.points ?? 0) + 13 > sprint.capacity
    }),
  )
  const refused = session.call('estimate_issue', { issue: tight.issue, points: 13 })
  assert.is(refused.ok || refused.code, 'sprint_full')
})

test('a shipped release and its issues are read-only', () => {
  const session = open()
  const ready = found(
    dbOf(session).releases.find(({ release, shipped }) => {
      const inside = dbOf(session).issues.list((row) => row.release === release)
      return !shipped && inside.length > 0 && !inside.some(isOpen)
    }),
  )
  done(session, 'ship_release', { release: ready.release })
  const { issue: key } = issue(session, (row) => row.release === ready.release)
  const refused = session.call('label_issue', { issue: key, label: 'later' })
  assert.is(refused.ok || refused.code, 'issue_archived')
  assert.equal(done(session, 'list_releases', { project: ready.project }).releases, [
    ...(done(open(), 'list_releases', { project: ready.project }).releases as { release: string }[]).filter(
      ({ release }) => release !== ready.release,
    ),
  ])
})

test('a search for the words of a title ignores case and puts unfinished issues first', () => {
  const session = open()
  const { title, issue: key } = issue(session, (row) => row.status === 'done')
  const hits = done(session, 'find_issues', { keyword: title.toUpperCase() }).issues
  assert.equal(hits, [{ title, issue: key, status: 'done' }])
  const closed = walked(session, 'done', 'Wash the windows')
  const todo = fresh(session, 'Wash the windows again')
  const found = done(session, 'find_issues', { keyword: 'wash the win' }).issues as Issue[]
  assert.equal(
    found.map(({ issue }) => issue),
    [todo, closed],
  )
})

test('the details of an issue name what still blocks it', () => {
  const session = open()
  const blocked = issue(session, (row) => openBlockers(dbOf(session), row).length > 0)
  assert.equal(done(session, 'show_issue', { issue: blocked.issue }).blocked_by, openBlockers(dbOf(session), blocked))
})

type Rows = Record<string, Record<string, unknown>[]>

/** The first world with `spoil` done to its rows. */
function openSpoilt(spoil: (rows: Rows) => void): Session {
  const spoilt = {
    ...issueTracker,
    seed(context: Parameters<typeof issueTracker.seed>[0]) {
      const rows = structuredClone(issueTracker.seed(context)) as Rows
      spoil(rows)
      return rows
    },
  }
  return Session.open(generateSeedState(spoilt, 1))
}

const rowOf = (rows: Rows, table: string, where: (row: Record<string, unknown>) => boolean): Record<string, unknown> =>
  found(rows[table]?.find(where))

const spoilers: Record<string, (rows: Rows) => void> = {
  'blocking links have no cycle': ({ links }) => {
    const { issue, blocker } = found(links?.[0])
    links?.push({ link: 'back', issue: blocker, blocker: issue })
  },
  'nothing is done before what blocks it': (rows) => {
    const early = rowOf(rows, 'issues', ({ status }) => status === 'done').issue
    const late = rowOf(rows, 'issues', ({ status }) => status === 'todo').issue
    rows.links?.push({ link: 'early', issue: early, blocker: late })
  },
  'a project has at most one active sprint, and its record names it': (rows) => {
    rowOf(rows, 'projects', ({ active_sprint }) => active_sprint !== null).active_sprint = null
  },
  'the points of a sprint are those of its issues and within its capacity': (rows) => {
    const sprint = rowOf(rows, 'sprints', ({ state }) => state === 'active')
    sprint.points = Number(sprint.points) + 1
  },
  'a closed sprint holds finished issues only and never changes': (rows) => {
    const { sprint } = rowOf(rows, 'sprints', ({ state }) => state === 'closed')
    rowOf(rows, 'issues', (row) => row.sprint === sprint).status = 'review'
  },
  'members have as many issues in progress as recorded and allowed': (rows) => {
    rowOf(rows, 'issues', ({ status }) => status === 'in_progress').status = 'todo'
  },
  'issues are in the hands of working members of their project': (rows) => {
    rowOf(rows, 'issues', ({ status }) => status === 'review').assignee = null
  },
  'issue numbers go on from the counter of the project': (rows) => {
    const project = rowOf(rows, 'projects', () => true)
    project.last_number = Number(project.last_number) - 1
  },
  'a shipped release holds finished issues of its project': (rows) => {
    const open = new Set(rows.issues?.filter(({ status }) => status === 'todo').map(({ release }) => release))
    rowOf(rows, 'releases', ({ release }) => open.has(release)).shipped = true
  },
  'a project has few urgent open issues': (rows) => {
    const { project } = rowOf(rows, 'projects', () => true)
    for (const row of rows.issues ?? []) if (row.project === project) row.priority = 'urgent'
  },
  'links and comments belong to issues that exist': (rows) => {
    rowOf(rows, 'comments', () => true).issue = 'WEB-999'
  },
}

test('every invariant notices a world that breaks it', () => {
  assert.equal(
    Object.keys(spoilers),
    issueTracker.invariants.map(({ name }) => name),
  )
  for (const [name, spoil] of Object.entries(spoilers)) {
    const broken = openSpoilt(spoil).violations()
    assert.ok(
      broken.some((violation) => violation.startsWith(`${name}: `)),
      `${name}: ${broken.join('; ') || 'nothing reported'}`,
    )
  }
})

test('a closed sprint that differs from how it began is noticed', () => {
  const sealing = found(issueTracker.invariants.find(({ name }) => name.startsWith('a closed sprint')))
  const before = open()
  assert.is(sealing.check(before.db, before.db), undefined)
  const { sprint } = found(dbOf(before).sprints.find(({ state }) => state === 'closed'))
  const roomier = openSpoilt((rows) => {
    rowOf(rows, 'sprints', (row) => row.sprint === sprint).capacity = 99
  })
  assert.is(sealing.check(roomier.db, before.db), sprint)
  const emptied = openSpoilt((rows) => {
    rowOf(rows, 'issues', (row) => row.sprint === sprint).sprint = null
  })
  assert.is(sealing.check(emptied.db, before.db), sprint)
})

test.run()

checkEnvironmentContract(issueTracker, { provoke, sampleFloor: 0.99 })
