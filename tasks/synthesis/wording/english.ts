export function plural(noun: string): string {
  if (/person$/.test(noun)) return noun.replace(/person$/, 'people')
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`
  if (/(s|x|ch|sh)$/.test(noun)) return noun === 'series' ? noun : `${noun}es`
  if (/shelf$/.test(noun)) return noun.replace(/f$/, 'ves')
  return `${noun}s`
}

export const singular = (nouns: string): string =>
  nouns
    .replace(/ies$/, 'y')
    .replace(/(ch|sh|x|ss)es$/, '$1')
    .replace(/s$/, '')

/** `a, b and c`. */
export function listed(items: readonly string[], last = 'and'): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} ${last} ${items.at(-1)}`
}

export const capitalised = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)

/** Begins a text with a small letter, unless it begins with "I". */
export const uncapitalised = (text: string): string =>
  /^I\b/.test(text) ? text : text.slice(0, 1).toLowerCase() + text.slice(1)

/** Whether a key is a name with hyphens, such as `maple-room`. */
export const isNameAsKey = (key: string): boolean => /^[a-z]+(-[a-z]+)+$/.test(key)

/** Returns a key as people write it: `Maple Room` for `maple-room`. */
export const nameOf = (key: string): string => key.split('-').map(capitalised).join(' ')
