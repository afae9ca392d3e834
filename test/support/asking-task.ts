import { lendingTask } from './scripted.js'

/** Words with which an assistant can ask for the borrower of a book. */
export const READER = ['reader', 'who', 'name']

/** A task whose user wants a book lent and does not name the borrower. */
export const asking = lendingTask({
  turns: ['Please lend emma to somebody.', 'To Ada.'],
  groundTruth: [{ ...lendingTask().groundTruth[0]!, turn: 1 }],
  questions: [{ turn: 0, words: READER }],
})
