import { excerpt } from '../kernel/text.js'
import type { Node } from './schema.js'

export const byteLength = (text: string): number => Buffer.byteLength(text, 'utf8')

/** Lines of a text, without their line feeds. */
export function linesOf(text: string): string[] {
  if (text === '') return []
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Text as it is stored: ends with a line feed unless it is empty. */
export const asStored = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`)

/** Joins the first lines that together fit into `most` characters. If not even the first line fits, returns an excerpt of that line. */
export function joinWithin(lines: readonly string[], most: number): string {
  const kept: string[] = []
  let room = most
  for (const line of lines) {
    room -= line.length + 1
    if (room < 0) break
    kept.push(line)
  }
  return kept.length === 0 && lines.length > 0 ? excerpt(lines[0]!, most) : kept.join('\n')
}

/** FNV-1a over UTF-16 code units, eight hexadecimal digits: the same content has the same checksum wherever it lies. */
export function checksumOf({ kind, text, photo, members, bytes }: Node): string {
  const content =
    kind === 'text'
      ? text
      : kind === 'photo'
        ? `${bytes} ${photo!.taken} ${photo!.city} ${photo!.camera}`
        : members.map((member) => `${member.path} ${member.bytes} ${member.text}`).join('\n')
  let hash = 0x811c9dc5
  for (let i = 0; i < content.length; i++) hash = Math.imul(hash ^ content.charCodeAt(i), 0x01000193)
  return (hash >>> 0).toString(16).padStart(8, '0')
}

/** Most lines of each file that are compared: the comparison takes the product of both. */
const COMPARED = 100

/**
 * Returns the lines to take out of one text (`- `) and the lines to put into another (`+ `), in order. Compares only the
 * first hundred lines of each text. The lines of a longest common subsequence stay.
 */
export function differences(from: string, to: string): string[] {
  const a = linesOf(from).slice(0, COMPARED)
  const b = linesOf(to).slice(0, COMPARED)
  const width = b.length + 1
  const common = new Uint8Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i * width + j] =
        a[i] === b[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!)
  const changes: string[] = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      i++
      j++
    } else if (j === b.length || (i < a.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!))
      changes.push(`- ${a[i++]}`)
    else changes.push(`+ ${b[j++]}`)
  }
  return changes
}

/** Bytes of an archive: text shrinks to half, photos do not shrink, and each file has an entry of 20 in the list. */
export function packedBytes(members: readonly { readonly kind: string; readonly bytes: number }[]): number {
  return members.reduce((sum, { kind, bytes }) => sum + 20 + (kind === 'text' ? Math.ceil(bytes / 2) : bytes), 40)
}
