import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { PAPER_PROFILE } from '../../../tasks/dataset/index.js'
import { isTooSmall, similarTools } from '../../../tasks/synthesis/making/toolset.js'
import { CATALOGUE } from '../../support/spoken-catalogue.js'

const test = suite('tools for one wish')
const environments = [...CATALOGUE.values()]
const node = (name: string) => {
  const [environmentName, toolName] = name.split(':') as [string, string]
  const environment = CATALOGUE.get(environmentName)!
  return { environment, tool: environment.toolsByName.get(toolName)! }
}

test('are those of other worlds that do as well where no world is named, and the tool itself', () => {
  const found = similarTools([node('shopping:add_delivery_address')], environments)
  assert.ok(['shopping:add_delivery_address', 'food_delivery:add_dropoff'].every((name) => found.includes(name)))
  assert.not.ok(found.includes('food_delivery:show_menu'))
  assert.ok(
    similarTools([node('maps:measure_distance')], environments).includes('maps:plan_route'),
    'also of its own world',
  )
})

test('are those whose names agree in two words', () => {
  assert.ok(similarTools([node('calendar:find_events')], environments).includes('calendar:find_events'))
  const found = similarTools([node('shopping:search_products'), node('filesystem:find_files_by_size')], environments)
  assert.ok(found.includes('filesystem:find_files'))
  assert.not.ok(found.includes('filesystem:find_links'))
})

test('leave most tools of a world on offer', () => {
  for (const environment of environments)
    for (const tool of environment.tools) {
      const others = environment.tools.length - similarTools([{ environment, tool }], [environment]).length
      assert.ok(others >= environment.tools.length / 2, `${environment.name}:${tool.name} leaves ${others}`)
    }
})

test('are hidden no farther than to as few tools as others have, or half of a small world', () => {
  const { tools, ...shop } = CATALOGUE.get('shopping')!
  const toolset = (count: number) => tools.slice(0, count).map(({ name }) => ({ environment: shop.name, tool: name }))
  const least = PAPER_PROFILE.ownTools.min
  assert.ok(isTooSmall(toolset(least - 1), [{ ...shop, tools }], PAPER_PROFILE))
  assert.not(isTooSmall(toolset(least), [{ ...shop, tools }], PAPER_PROFILE))
  assert.not(isTooSmall(toolset(2), [{ ...shop, tools: tools.slice(0, 4) }], PAPER_PROFILE))
  assert.ok(isTooSmall(toolset(1), [{ ...shop, tools: tools.slice(0, 4) }], PAPER_PROFILE))
})

test('a wish is one that several tools serve: another word for it would go unnoticed', () => {
  const served = environments.flatMap(({ speech }) => [...speech.values()].flatMap(({ wishes = [] }) => wishes))
  assert.ok(served.length > 100)
  for (const wish of served) assert.ok(served.filter((other) => other === wish).length > 1, wish)
})

test.run()
