import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Root folder of the checkout, for sources and compiled files alike. */
export const checkout: string = (() => {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  return folder
})()

export const fixture = (name: string): string => join(checkout, 'test', 'fixtures', name)
