/** How a user can mean one entity of an earlier result so that exactly one fits. */
export type Way =
  /** It is the only one of its kind in the result. */
  | { readonly how: 'only'; readonly noun: string }
  /** Its label: no other of its kind in the result has it. */
  | { readonly how: 'label'; readonly noun: string; readonly label: string }
  /** Its place in the list, from 1. Of a list that goes on nobody knows how long it is, nor which its last is. */
  | { readonly how: 'place'; readonly noun: string; readonly place: number; readonly of: number | undefined }
  /** It has the strictly lowest or highest value of a number or date among its kind, all of which are shown. */
  | { readonly how: 'extreme'; readonly noun: string; readonly field: string; readonly most: 'lowest' | 'highest' }
  /** The value itself, a city, address or date that the result states. */
  | { readonly how: 'value'; readonly noun: string; readonly value: string }
