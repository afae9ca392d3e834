import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { seededRandom } from '../../../servers/kernel/index.js'
import { DEMO_PROFILE, PAPER_PROFILE } from '../../../tasks/dataset/index.js'
import { dealt, drawPlans, planText, type TaskPlan } from '../../../tasks/synthesis/making/plan.js'

const test = suite('plans')
const plans = drawPlans('multi-turn', 1000, PAPER_PROFILE, 0, seededRandom(3))
const share = (fits: (plan: TaskPlan) => boolean): number => plans.filter(fits).length / plans.length
const near = (actual: number, wanted: number): boolean => Math.abs(actual - wanted) <= 0.05 * wanted

test('meet every quota of the profile', () => {
  for (const [i, weight] of PAPER_PROFILE.lengths.entries())
    assert.ok(
      near(
        share(({ calls }) => calls === i + 2),
        weight,
      ),
    )
  assert.ok(
    near(
      share(({ information }) => information === 'missing'),
      0.2,
    ),
  )
  assert.ok(
    near(
      share(({ information }) => information === 'minimal'),
      0.2,
    ),
  )
  assert.ok(
    near(
      share(({ recovery }) => recovery !== null),
      0.1,
    ),
  )
  assert.ok(
    near(
      share(({ crossing }) => crossing),
      0.08,
    ),
  )
  const turns = ({ requests, information, recovery }: TaskPlan): number =>
    requests + (information === 'complete' ? 0 : 1) + (recovery ? 1 : 0)
  assert.is(
    share((plan) => turns(plan) >= 2 && turns(plan) <= 3),
    1,
  )
  assert.ok(
    near(
      share((plan) => turns(plan) === 3),
      0.5,
    ),
  )
})

test('ask for no more than a conversation can hold', () => {
  for (const plan of plans) {
    assert.ok(plan.requests >= 1 && plan.requests <= plan.calls, planText(plan))
    if (plan.recovery === 'corrected' || plan.recovery === 'other-tool') assert.is(plan.information, 'complete')
    if (plan.crossing) assert.ok(plan.requests >= 2, planText(plan))
  }
})

test('of the demo are short, and nothing is missing or fails', () => {
  for (const plan of drawPlans('multi-turn', 200, DEMO_PROFILE, 0, seededRandom(1))) {
    assert.ok(plan.calls <= 4 && plan.requests <= 2)
    assert.equal([plan.information, plan.recovery, plan.crossing], ['complete', null, false])
  }
})

test('are dealt to one value, whatever the shares', () => {
  const drawn = dealt(
    [
      ['a', 0.6],
      ['b', 0.4],
    ],
    7,
    seededRandom(2),
  )
  assert.is(drawn.length, 7)
  assert.is(drawn.filter((value) => value === 'a').length, 4)
})

test('are printed as one line', () => {
  assert.is(
    planText({
      kind: 'multi-turn',
      split: 'train',
      calls: 3,
      requests: 2,
      information: 'missing',
      recovery: null,
      crossing: true,
    }),
    'multi-turn of train: 3 calls in 2 requests, missing, continues in another environment',
  )
})

test('have three calls or more if a call needs another one first', () => {
  const setUp = plans.filter(({ recovery }) => recovery === 'other-tool')
  assert.is(setUp.length, 20)
  for (const { calls } of setUp) assert.ok(calls >= 3)
})

test.run()
