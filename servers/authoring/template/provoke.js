// One call per failure code that must end with this failure, for "prove-server check". The session begins with the rows of seed 1. A function
// may make other calls first.

const free = (session) => session.db.items.find(({ item }) => session.db.loans.by('item', item).length === 0)
const lend = ({ item }, borrower) => ['lend_library_item', { item, borrower }]

export const provoke = {
  unknown_item: () => ['lend_library_item', { item: 'item-0', borrower: 'Ana' }],
  unknown_loan: () => ['end_library_loan', { loan: 'loan-0' }],
  already_lent: (session) => {
    const item = free(session)
    session.call(...lend(item, 'Ana'))
    return lend(item, 'Bo')
  },
  too_many_loans: (session) => {
    for (let i = 0; i < 3; i++) session.call(...lend(free(session), 'Emil'))
    return lend(free(session), 'Emil')
  },
}
