import type { Page } from 'playwright-core'
import type { Task } from '../../rollout/episode/index.js'

/** Steps of a player on the playground's page. */

/** Chooses a task and opens it. */
export async function openTask(page: Page, task: Task): Promise<void> {
  await page.getByLabel('Task', { exact: true }).selectOption(task.id)
  await page.getByRole('button', { name: 'Open the task' }).click()
}

/** Fills in the form of a call, and makes the call. */
export async function makeCall(page: Page, { name, arguments: args }: Task['groundTruth'][number]): Promise<void> {
  await page.getByLabel('Tool', { exact: true }).selectOption(name)
  for (const [key, value] of Object.entries(args)) {
    const field = page.locator(`#arg-${key}`)
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    if ((await field.evaluate((element) => element.tagName)) === 'SELECT') await field.selectOption(text)
    else await field.fill(text)
  }
  await page.getByRole('button', { name: 'Make the call' }).click()
}
