// needs: chromium

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { SECTIONS } from '../../coordinator/dashboard/page.js'
import { DESKTOP, faultsOf, openChromium, overflow, PHONE, PICTURES, settle, violations } from '../support/chromium.js'
import { type Kind, READABLE, runOf, type ShownRun, showRun } from '../support/dashboard-runs.js'
import { PATIENCE_MS } from '../support/patience.js'
import { done } from '../support/run-events.js'

/** The dashboard in a real browser, as people see and use it. */

const BEGAN_MS = Date.UTC(2026, 2, 1, 9)
/** Than anything in the runs: what is newest stands first. */
const LATER_MS = Date.UTC(2026, 2, 2)

const test = suite('the dashboard in a browser')
const opened: (() => Promise<unknown>)[] = []
let browser: Browser
test.before(async () => {
  await mkdir(PICTURES, { recursive: true })
  browser = await openChromium()
})
test.after(() => browser?.close())
test.after.each(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

async function shown(kind: Kind, settings: object = {}): Promise<ShownRun> {
  const run = await showRun(runOf(kind, BEGAN_MS), settings)
  opened.push(() => run.close())
  return run
}

/** A page that fails the test for whatever its console or its policy has to say against it. */
async function openPage(options: BrowserContextOptions = {}): Promise<{ page: Page; faults: string[] }> {
  const context = await browser.newContext({ viewport: DESKTOP, ...options })
  opened.push(() => context.close())
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  const faults = faultsOf(page)
  return { page, faults }
}

async function look(run: ShownRun, path: string, name: string, options: BrowserContextOptions): Promise<void> {
  const { page, faults } = await openPage(options)
  await page.goto(run.dashboard.url + path)
  await settle(page)
  const wide = await overflow(page)
  await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage: true })
  assert.equal(await violations(page), [], `${name}: not everybody can use it`)
  assert.ok(wide <= 0, `${name}: wider than the screen by ${wide} pixels`)
  assert.equal(faults, [], name)
  await page.context().close()
}

for (const kind of ['empty', 'busy', 'finished', 'failing'] as const)
  test(`the overview of a run that is ${kind} can be used by everybody, on a desk and in a hand, by day and by night`, async () => {
    const run = await shown(kind)
    for (const [size, viewport] of [
      ['desktop', DESKTOP],
      ['phone', PHONE],
    ] as const)
      for (const colorScheme of ['light', 'dark'] as const)
        await look(run, '/', `${kind}-overview-${size}-${colorScheme}`, { viewport, colorScheme })
  })

test('so can every other page of a busy run, and each of an empty one', async () => {
  const busy = await shown('busy')
  const { node } = busy.report.nodes.report(0)[0]!
  const paths = [...SECTIONS.slice(1).map(({ path }) => path), `/nodes/${node}`, `/groups/${READABLE}?rollout=1`]
  for (const path of paths) {
    const name = path.split('/')[1]! + (path.split('/')[2] ? '-one' : '')
    await look(busy, path, `busy-${name}-desktop-dark`, { viewport: DESKTOP, colorScheme: 'dark' })
    await look(busy, path, `busy-${name}-phone-light`, { viewport: PHONE, colorScheme: 'light' })
  }
  const empty = await shown('empty')
  for (const { path, name } of SECTIONS.slice(1))
    await look(empty, path, `empty-${name.toLowerCase()}-phone-light`, { viewport: PHONE, colorScheme: 'light' })
})

test('what happens in the run is seen without a reload, and nobody loses their place', async () => {
  const run = await shown('busy')
  const { page, faults } = await openPage()
  await page.goto(`${run.dashboard.url}/groups`)
  await page.getByText('Live', { exact: true }).waitFor()
  await page.evaluate(() => Object.assign(window, { loadedOnce: true }))
  const place = page.locator(`a[href="/groups/${READABLE}"]`)
  await place.focus()
  const { node } = run.report.nodes.report(0)[0]!
  for (const event of done('news', node, 24)) await run.recorder.record(() => ({ ...event, atMs: LATER_MS }))
  await page.locator('a[href="/groups/news"]').waitFor()
  assert.ok(await place.evaluate((link) => document.activeElement === link), 'the focus has moved')
  assert.ok(await page.evaluate(() => 'loadedOnce' in window), 'the page was loaded again')
  assert.equal(faults, [])
})

test('a page says when the coordinator is gone', async () => {
  const run = await shown('busy')
  const { page } = await openPage()
  await page.goto(run.dashboard.url)
  await page.getByText('Live', { exact: true }).waitFor()
  await run.dashboard.close()
  await page.getByText('Connection lost').waitFor()
})

test('without JavaScript the numbers and the drawings are there', async () => {
  const run = await shown('busy')
  const { page, faults } = await openPage({ javaScriptEnabled: false })
  await page.goto(run.dashboard.url)
  const text = (await page.locator('main').textContent())!
  for (const said of ['Version 24 of 60', '1.080', '135', '19 % with zero variance', 'stale_policy'])
    assert.ok(text.includes(said), said)
  const drawing = await page.goto(run.dashboard.url + (await page.locator('.chart img').first().getAttribute('src')))
  assert.is(drawing!.status(), 200)
  await page.goto(run.dashboard.url)
  await page.getByRole('link', { name: 'Groups', exact: true }).click()
  await page.getByRole('heading', { name: 'Groups' }).waitFor()
  assert.equal(faults, [])
})

test('the keyboard leads to the content, through the sections and into a table', async () => {
  const run = await shown('busy')
  const { page } = await openPage()
  await page.goto(run.dashboard.url)
  const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim())
  await page.keyboard.press('Tab')
  assert.is(await focused(), 'To the content')
  await page.keyboard.press('Enter')
  assert.is(await page.evaluate(() => document.activeElement?.id), 'content')
  await page.keyboard.press('Tab')
  assert.is(await page.evaluate(() => document.activeElement?.getAttribute('role')), 'region')
  await page.getByRole('link', { name: 'Volunteers' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Volunteers' }).waitFor()
})

test('a token opens the door in a browser, and the wrong one does not', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'prove-dashboard-'))
  opened.push(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'token'), 'a-token-that-nobody-guesses')
  const run = await shown('busy', { tokenFile: join(folder, 'token') })
  await look(run, '/', 'login-phone-light', { viewport: PHONE })
  const { page } = await openPage()
  await page.goto(`${run.dashboard.url}/groups`)
  const field = page.getByLabel('Token of the run')
  await field.fill('something else altogether')
  await page.keyboard.press('Enter')
  await page.getByText('The token is wrong.').waitFor()
  await field.fill('a-token-that-nobody-guesses')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.getByRole('button', { name: 'Log out' }).click()
  await field.waitFor()
})

test.run()
