import { statSync } from 'node:fs'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { parse } from 'yaml'
import { PAPER } from '../../rollout/reward/index.js'
import { servePlayground } from '../../servers/episodes/playground/serve-playground.js'
import { shippedTasks } from '../../servers/episodes/playground/shipped-tasks.js'
import { openChromium, settle } from '../support/chromium.js'
import { PATIENCE_MS } from '../support/patience.js'
import { makeCall, openTask } from '../support/playground-page.js'
import { createMachine } from '../support/programs.js'

/** Bytes of a picture of a screen, so that a page with several of them stays light. */
const MOST_BYTES = 150_000
const VIEW = { width: 1120, height: 760 }

/**
 * Takes pictures of the pages of the programs in Chromium.
 * @param folder  where the pictures are written
 * @param run  folder of a finished demo run, whose dashboard is shown
 */
export async function drawScreens(folder: string, run: string): Promise<void> {
  const browser = await openChromium()
  const take = async (page: Page, name: string, height: number): Promise<void> => {
    const path = join(folder, `${name}.png`)
    await page.setViewportSize({ ...VIEW, height })
    await settle(page)
    await page.screenshot({ path })
    const { size } = statSync(path)
    if (size > MOST_BYTES) throw new Error(`${path} has ${size} bytes: show less of the page, at most ${MOST_BYTES}`)
  }
  try {
    await dashboard(browser, take, run)
    await playground(browser, take)
  } finally {
    await browser.close()
  }
}

type Take = (page: Page, name: string, height: number) => Promise<void>

async function pageIn(browser: Browser): Promise<Page> {
  const page = await browser.newPage({ viewport: VIEW, colorScheme: 'light', reducedMotion: 'reduce' })
  page.setDefaultTimeout(PATIENCE_MS)
  return page
}

/** The dashboard of a finished run, which a coordinator serves again from a copy of the run's folder. */
async function dashboard(browser: Browser, take: Take, run: string): Promise<void> {
  const machine = await createMachine()
  try {
    await cp(run, machine.folder, { recursive: true, filter: (path) => !path.endsWith('.sock') })
    const config = parse(await readFile(join(run, 'run.yaml'), 'utf8')) as object
    const shown = { ...config, dashboard: { listen: '127.0.0.1:0' } }
    await writeFile(join(machine.folder, 'run.yaml'), JSON.stringify(shown))
    const coordinator = machine.start('coordinator', ['start', '--json', '--no-dry-run'])
    const { url } = await coordinator.until('the dashboard', ({ type }) => type === 'dashboard')
    const page = await pageIn(browser)
    for (const [path, name, height] of [
      ['', 'dashboard-overview', 940],
      ['/steps', 'dashboard-training', 900],
    ] as const) {
      await page.goto(url + path)
      await take(page, name, height)
    }
    await page.goto(`${url}/groups`)
    await page.locator('tbody a').first().click()
    await take(page, 'dashboard-group', 1180)
  } finally {
    await machine.close()
  }
}

/** A task that was played in two ways: branch B is a fork of A. */
async function playground(browser: Browser, take: Take): Promise<void> {
  const tasks = await shippedTasks()
  const task = tasks.find(({ turns, groundTruth }) => turns.length === 2 && groundTruth.length > 2)!
  const served = await servePlayground({ host: '127.0.0.1', port: 0, reward: PAPER, tasks: null })
  try {
    const page = await pageIn(browser)
    await page.goto(served.origin)
    await openTask(page, task)
    await makeCall(page, task.groundTruth[0]!)
    await page.locator('.said.assistant .badge').first().waitFor()
    await page.getByRole('button', { name: 'Fork A here' }).click()
    await makeCall(page, task.groundTruth[1]!)
    await page.locator('.said.assistant .badge').nth(1).waitFor()
    await page.getByRole('button', { name: 'Compare with A' }).click()
    await page.getByText('share').first().waitFor()
    await page.setViewportSize({ ...VIEW, height: 1100 })
    await page.getByRole('heading', { name: 'Branches' }).evaluate((heading) => {
      window.scrollTo(0, heading.getBoundingClientRect().top + window.scrollY - 24)
    })
    await take(page, 'playground', 1100)
  } finally {
    await served.close()
  }
}
