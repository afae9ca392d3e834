/** The HH:MM of an instant. */
export const timeOf = (instant: string): string => instant.slice(11, 16)
