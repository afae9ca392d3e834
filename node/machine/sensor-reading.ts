/** The answer of a sensor, or the reason why this machine gives none. */
export type SensorReading<T> =
  | { readonly known: true; readonly value: T }
  | { readonly known: false; readonly why: string }

export const known = <T>(value: T): SensorReading<T> => ({ known: true, value })
export const unknown = (why: string): SensorReading<never> => ({ known: false, why })
