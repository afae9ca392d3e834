/** Formats a count for people: `1 verdict`, `2 verdicts`. @param many  the plural; default: `one` with an `s` */
export const countOf = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`
