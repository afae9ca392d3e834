// needs: chromium

import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Hono } from 'hono'
import { cors } from 'hono/cors'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Listening, listen } from '../../common/http/index.js'
import { PAPER, rewardPreset } from '../../rollout/reward/index.js'
import { createTaskRuntime, openEpisode } from '../../servers/episodes/index.js'
import { PLAYGROUND_FOLDER, servePlayground } from '../../servers/episodes/playground/serve-playground.js'
import { shippedTasks } from '../../servers/episodes/playground/shipped-tasks.js'
import { CATALOGUE } from '../support/catalogue.js'
import { checkout } from '../support/checkout.js'
import { DESKTOP, faultsOf, openChromium, overflow, PHONE, PICTURES, violations } from '../support/chromium.js'
import { PATIENCE_MS } from '../support/patience.js'
import { makeCall, openTask } from '../support/playground-page.js'

/** The playground in a real browser, as people use it. */

const test = suite('the playground in a browser')
const opened: (() => Promise<unknown>)[] = []
let browser: Browser
let served: Listening
const tasks = await shippedTasks()
const runtime = createTaskRuntime(CATALOGUE)
const changes = new Set(
  [...CATALOGUE.values()].flatMap(({ tools }) =>
    tools.filter((tool) => !tool.annotations.readOnly).map(({ name }) => name),
  ),
)
/** One that changes its worlds and has a choice to make. */
const task = tasks.find(
  ({ turns, groundTruth }) =>
    turns.length === 2 && groundTruth.length > 2 && groundTruth.some(({ name }) => changes.has(name)),
)!

test.before(async () => {
  await mkdir(PICTURES, { recursive: true })
  browser = await openChromium()
  served = await servePlayground({ host: '127.0.0.1', port: 0, reward: PAPER, tasks: null })
})
test.after(async () => {
  await served?.close()
  await browser?.close()
})
test.after.each(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

async function openPage(url: string, options: BrowserContextOptions = {}): Promise<{ page: Page; faults: string[] }> {
  const context = await browser.newContext({ viewport: DESKTOP, ...options })
  opened.push(() => context.close())
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  const faults = faultsOf(page)
  await page.goto(url)
  return { page, faults }
}

async function look(page: Page, name: string): Promise<void> {
  for (const [size, viewport] of [
    ['desktop', DESKTOP],
    ['phone', PHONE],
  ] as const)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize(viewport)
      // Colours that are still on their way would be looked at too.
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.screenshot({ path: join(PICTURES, `playground-${name}-${size}-${colorScheme}.png`), fullPage: true })
      const wide = await overflow(page)
      assert.ok(wide <= 0, `${name}, ${size}: wider than the screen by ${wide} pixels`)
      assert.equal(await violations(page), [], `${name}, ${size}, ${colorScheme}: not everybody can use it`)
    }
  await page.setViewportSize(DESKTOP)
}

const total = (page: Page): Promise<string | null> => page.locator('#total').textContent()

test('a player fills forms, forks, compares branches, and the page verifies the downloaded rollout', async () => {
  const { page, faults } = await openPage(served.origin)
  await look(page, 'begin')
  await openTask(page, task)
  await page.getByText(task.turns[0]!, { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Fork A here' }).click()

  const expected = await openEpisode(task, { runtime, reward: PAPER })
  for (const [turn] of task.turns.entries()) {
    for (const call of task.groundTruth.filter(({ turn: of }) => of === turn)) {
      await makeCall(page, call)
      await expected.act({ text: '', calls: [{ name: call.name, arguments: call.arguments }] })
      await page
        .locator('.said.assistant .badge', { hasText: 'done' })
        .nth(expected.calls.length - 1)
        .waitFor()
      assert.is(await total(page), String(Number(expected.score().total.toFixed(4))))
    }
    await page.getByLabel('Message').fill('<b>Done.</b>')
    await page.getByRole('button', { name: 'Send the message' }).click()
    await expected.act({ text: '<b>Done.</b>', calls: [] })
    await page.getByText('<b>Done.</b>').nth(turn).waitFor()
  }
  await page.getByText('The conversation is over.').waitFor()
  assert.ok((await page.locator('.changes ins').count()) > 0, 'no row is shown to have changed')
  await page.getByRole('button', { name: 'Compare with A' }).click()
  await page.getByText('B and A share 0 steps.').waitFor()
  await look(page, 'played')

  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download B' }).click()
  const file = await (await downloading).path()
  const rollout = JSON.parse(await readFile(file, 'utf8'))
  assert.is(rollout.total, expected.score().total)
  assert.equal(rollout.stateHashes, expected.score().stateHashes)

  await page.getByRole('link', { name: 'Verify a rollout' }).click()
  await page.getByLabel('File').setInputFiles(file)
  await page.getByRole('button', { name: 'Fetch and verify' }).click()
  await page.getByText('All checks passed').waitFor()
  const forged = Buffer.from(JSON.stringify({ ...rollout, total: rollout.total + 0.5 }))
  await page.getByLabel('File').setInputFiles({ name: 'forged.json', mimeType: 'application/json', buffer: forged })
  await page.getByRole('button', { name: 'Fetch and verify' }).click()
  await page.getByText('Failed: reward_mismatch').waitFor()
  assert.equal(faults, [])
})

test('the page verifies each example group with the coordinator’s result, and fetches a published group', async () => {
  const attackGroups = (await readFile(join(checkout, 'servers/episodes/playground/attack-groups.jsonl'), 'utf8'))
    .trim()
    .split('\n')
  const { page, faults } = await openPage(`${served.origin}/#verify`)
  for (const line of attackGroups) {
    const { title, caught } = JSON.parse(line)
    await page.getByRole('button', { name: title, exact: true }).click()
    await page.getByRole('heading', { name: title, exact: true }).waitFor()
    const verdict = await page.locator('.verdict').textContent()
    assert.is(verdict, caught.length === 0 ? 'All checks passed' : `Failed: ${caught.join(', ')}`, title)
  }
  await look(page, 'verified')

  const app = new Hono().use(cors()).get('/group.json', (context) => context.body(attackGroups[1]!))
  const publisher = await listen(app, { host: '127.0.0.1', port: 0, requestTimeoutMs: PATIENCE_MS })
  opened.push(() => publisher.close())
  await page.getByLabel('Or address').fill(`${publisher.origin}/group.json`)
  await page.getByRole('button', { name: 'Fetch and verify' }).click()
  await page.getByText('Failed: reward_mismatch').waitFor()
  assert.equal(faults, [])
  await page.getByLabel('Or address').fill(`${publisher.origin}/nothing`)
  await page.getByRole('button', { name: 'Fetch and verify' }).click()
  await page.getByRole('alert').filter({ hasText: 'status 404' }).waitFor()
})

test('the folder works without a server, and a server shows its tasks', async () => {
  const { page, faults } = await openPage(pathToFileURL(join(PLAYGROUND_FOLDER, 'index.html')).href)
  await openTask(page, task)
  await page.getByRole('button', { name: 'Make the call' }).click()
  await page.getByText('Call error').waitFor()
  assert.equal(faults, [])

  const own = await servePlayground({ host: '127.0.0.1', port: 0, reward: rewardPreset('outcome'), tasks: [task] })
  opened.push(() => own.close())
  const { page: other, faults: others } = await openPage(own.origin)
  await other.getByLabel('Task', { exact: true }).waitFor()
  assert.is(await other.locator('#task option').count(), 1)
  await openTask(other, task)
  const elsewhere = await openEpisode(task, { runtime, reward: rewardPreset('outcome') })
  await other.locator('#total').waitFor()
  const parts = await other.locator('.pairs dt').allTextContents()
  assert.equal(parts, [...Object.keys(elsewhere.score().components ?? {}), 'calls'])
  assert.equal(others, [])
  const policy = (await fetch(own.origin)).headers.get('content-security-policy')!
  assert.ok(policy.includes("default-src 'none'") && policy.includes("script-src 'self'"), policy)
  assert.is((await fetch(own.origin, { headers: { origin: 'http://evil.example' } })).status, 403)
})

test.run()
