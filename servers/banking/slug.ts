/** A name as a key: `Ana Lima` -> `ana-lima`. */
export function slug(name: string): string {
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? []
  return words.join('-')
}
