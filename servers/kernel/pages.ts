import { z } from 'zod'
import { PAGE } from './lists.js'

/** Lists of an output that are shown in pages, by field, with the size of a page. */
export type ListSizes<O = Record<string, readonly unknown[]>> = {
  readonly [F in keyof O as O[F] extends readonly unknown[] | undefined ? F : never]?: keyof typeof PAGE
}

/** Largest page number, far more than any list has: a large number must not cause work. */
const MOST_PAGES = 1000

const page = z.int().min(1).max(MOST_PAGES).optional().describe('Page of the list; 1 if not given.')
const next_page = z.int().optional().describe('The page to ask for next; there is none after the last.')

/** Returns whether the lists of a result may be incomplete: a page of several, or fewer entries than were found. */
export function isExcerpt(
  args: Readonly<Record<string, unknown>>,
  output: Readonly<Record<string, unknown>>,
  shown: number,
): boolean {
  const isPage = output.next_page !== undefined || (typeof args.page === 'number' && args.page > 1)
  return isPage || (typeof output.found === 'number' && output.found > shown)
}

/** The part of a tool that pages change. */
interface Listing {
  readonly input: z.ZodObject
  readonly output: z.ZodObject
  run(args: Record<string, unknown>, context: never): Record<string, unknown>
}

/** Returns the tool with its lists cut into pages. The lists of one result share the page number. */
export function paged<T extends Listing>(tool: T, sizes: ListSizes): T {
  const lists = Object.entries(sizes).map(([field, size]) => [field, PAGE[size!]] as const)
  return {
    ...tool,
    input: tool.input.extend({ page }),
    output: tool.output.extend({ next_page }),
    run({ page: number, ...args }: Record<string, unknown>, context: never) {
      const turned = ((number as number | undefined) ?? 1) - 1
      const answer = tool.run(args, context)
      const parts = lists.map(([field, size]) => [field, (answer[field] ?? []) as readonly unknown[], size] as const)
      const cut = parts.map(([field, all, size]) => [field, all.slice(turned * size, (turned + 1) * size)] as const)
      const isMore = parts.some(([, all, size]) => all.length > (turned + 1) * size)
      return { ...answer, ...Object.fromEntries(cut), ...(isMore ? { next_page: turned + 2 } : {}) }
    },
  }
}
