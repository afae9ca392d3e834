/** `1 verdict`, `2 verdicts`: a count in what people read. @param many  the plural, where it is not `one` with an `s` */
export const countOf = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`
