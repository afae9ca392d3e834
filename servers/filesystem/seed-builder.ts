import type { SeededRandom } from '../kernel/random.js'
import { byteLength, packedBytes } from './contents.js'
import { nameOf } from './paths.js'
import type { Member, Node } from './schema.js'
import * as words from './words.js'

type Rights = Pick<Node, 'owner' | 'group'>

/** Builder that collects entries. The caller specifies the path, the owner and the content of each entry. */
export class Builder {
  readonly nodes: Node[] = []
  readonly #random: SeededRandom
  readonly #today: number
  readonly #dates: string[] = []

  constructor(random: SeededRandom, today: string) {
    this.#random = random
    this.#today = Date.parse(`${today}T00:00:00Z`)
  }

  /** Returns the date that is `daysAgo` days before the session. */
  date(daysAgo: number): string {
    this.#dates[daysAgo] ??= new Date(this.#today - daysAgo * 86_400_000).toISOString().slice(0, 10)
    return this.#dates[daysAgo]
  }

  directory(path: string, rights: Rights, mode = 0o755, sticky = false): void {
    this.#add(path, rights, mode, { kind: 'directory', sticky })
  }

  text(path: string, rights: Rights, text: string, mode = 0o644, daysAgo = this.#daysAgo()): void {
    this.#add(path, rights, mode, { kind: 'text', text, bytes: byteLength(text) }, daysAgo)
  }

  photo(path: string, rights: Rights, city: string, daysAgo: number): void {
    const photo = { taken: this.date(daysAgo), city, camera: this.#random.pick(words.CAMERAS) }
    this.#add(path, rights, 0o644, { kind: 'photo', photo, bytes: this.#random.int(900, 3600) * 1000 }, daysAgo)
  }

  archive(path: string, rights: Rights, members: readonly Member[]): void {
    this.#add(path, rights, 0o644, { kind: 'archive', members: [...members], bytes: packedBytes(members) })
  }

  link(path: string, rights: Rights, target: string): void {
    this.#add(path, rights, 0o777, { kind: 'link', target })
  }

  /** Mostly weeks, sometimes months, never today. */
  #daysAgo(): number {
    return this.#random.chance(0.6) ? this.#random.int(1, 45) : this.#random.int(46, 400)
  }

  #add(path: string, rights: Rights, mode: number, content: Partial<Node>, daysAgo = this.#daysAgo()): void {
    const time = `${String(this.#random.int(7, 19)).padStart(2, '0')}:${String(this.#random.int(0, 59)).padStart(2, '0')}`
    const cut = path.lastIndexOf('/')
    this.nodes.push({
      path,
      name: path === '/' ? '/' : nameOf(path),
      parent: path === '/' ? '' : path.slice(0, cut) || '/',
      kind: 'directory',
      mode,
      sticky: false,
      bytes: 0,
      modified: `${this.date(daysAgo)} ${time}`,
      text: '',
      target: null,
      photo: null,
      members: [],
      ...rights,
      ...content,
    })
  }
}

/** Who is who: the current user is in the first two teams, and each colleague in one; the third team is closed to the user. */
export interface Staff {
  readonly me: string
  readonly colleagues: readonly string[]
  readonly teams: readonly [first: string, second: string, closed: string]
}

export const ROOT = { owner: 'root', group: 'root' } as const
