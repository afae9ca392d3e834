import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { checkout } from './checkout.js'
import { PATIENCE_MS } from './patience.js'

/** The browser of the system, for tests of pages. */

/** Debian's package. Another one is named by PROVE_CHROMIUM. */
const CHROMIUM = process.env.PROVE_CHROMIUM ?? '/usr/bin/chromium'
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** Folder of screenshots for people to look at. Each run overwrites them, and the package does not contain them. */
export const PICTURES = join(checkout, 'dist', 'test', 'screenshots')
const ARGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'],
]
export const DESKTOP = { width: 1280, height: 900 }
export const PHONE = { width: 390, height: 844 }

/** Starts the browser. @throws Error if it is not installed */
export async function openChromium(): Promise<Browser> {
  if (!existsSync(CHROMIUM))
    throw new Error(
      `${CHROMIUM} does not exist; install it (apt-get install chromium), or name another Chromium with PROVE_CHROMIUM`,
    )
  return chromium.launch({ executablePath: CHROMIUM, args: ARGS, timeout: PATIENCE_MS })
}

/** Waits until every image is drawn, including images below the visible part of the page. */
export async function settle(page: Page): Promise<void> {
  await page.evaluate(async () => {
    for (const image of document.images) {
      image.loading = 'eager'
      await image.decode()
    }
  })
}

/** Returns by how many pixels a page is wider than the screen. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)

/** Returns a list that grows with every warning, error and failed request of a page. */
export function faultsOf(page: Page): string[] {
  const faults: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text())
  })
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText
    // Chromium aborts requests by itself: the stream of a page that is left, an image for another width.
    if (why !== 'net::ERR_ABORTED') faults.push(`${request.url()} ${why}`)
  })
  page.on('response', (response) => {
    if (response.status() >= 400) faults.push(`${response.url()} ${response.status()}`)
  })
  return faults
}

interface Violation {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

/** Returns the accessibility problems that axe-core finds on a page. */
export async function violations(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  const found = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } }
    return (await axe.run()).violations
  })
  return found.map(({ id, nodes }) => `${id}: ${nodes[0]!.html} ${nodes[0]!.failureSummary}`)
}
