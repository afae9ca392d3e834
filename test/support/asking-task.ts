import { lendingTask } from './scripted.js'

/** The words in which an assistant can ask who is to have a book. */
export const READER = ['reader', 'who', 'name']

/** Somebody wants a book lent and does not say to whom. */
export const asking = lendingTask({
  turns: ['Please lend emma to somebody.', 'To Ada.'],
  groundTruth: [{ ...lendingTask().groundTruth[0]!, turn: 1 }],
  questions: [{ turn: 0, words: READER }],
})
