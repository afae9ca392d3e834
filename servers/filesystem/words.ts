const words = (text: string): string[] => text.trim().split(/\s*\n\s*|\s*,\s*/)
const lines = (text: string): string[] => text.trim().split(/\s*\n\s*/)

export const USERS = words(
  'ana, ben, carla, dev, elena, felix, grace, hugo, iris, jonas, kira, leo, maya, nils, olga, pablo, rosa, tara',
)
export const TEAMS = words('design, finance, web, ops, research, events, sales')
export const PROJECTS = words(
  'harbour, lantern, meadow, orchard, compass, granite, willow, beacon, ferry, mosaic, saffron, glacier, pepper, anchor',
)
export const COMPANIES = words(`
  northwind, bluebird, redwood, silverline, oakfield, brightside, riverbank, summit, fairview, goldleaf, westgate,
  eastbay, clearwater, stonebridge, sunrise, maplewood`)
export const CAMERAS = words('Lumen 4, Optica M2, Pixelon S, phone')

/** What notes, plans and minutes are about. */
export const TOPICS = words(`
  the spring campaign, the office move, the new website, the supplier contract, the hiring plan, the budget review,
  the summer workshop, the customer survey, the data backup, the printer lease, the safety training, the trade fair,
  the price list, the holiday rota, the phone tariff, the tax return, the heating repair, the team outing,
  the newsletter, the parking permits, the warehouse keys, the coffee machine, the visitor badges, the cleaning service`)

export const ACTIONS = words(`
  Review, Prepare, Discuss, Finish, Check, Postpone, Sign off, Rewrite, Present, Cancel, Compare, Approve, Document, Order`)

export const OUTCOMES = words(`
  agreed by everyone, waiting for numbers, needs a second quote, moved to April, done last week, blocked by legal,
  half finished, to be decided on Friday, cheaper than expected, one week late, ready for review, on hold until May`)

export const BELONGINGS = words(`
  passport, charger, rain jacket, notebook, headphones, sunglasses, towel, camera, umbrella, adapter, travel pillow,
  walking boots, first aid kit, toothbrush, water bottle, playing cards, swimsuit, torch`)

export const GROCERIES = words(`
  flour, lentils, tomatoes, olive oil, basil, rice, onions, garlic, butter, eggs, lemons, chickpeas, spinach, cream,
  potatoes, carrots, ginger, honey, yoghurt, almonds, mushrooms, thyme`)
export const RECIPES = words(
  'lentil-soup, tomato-tart, lemon-cake, mushroom-rice, chickpea-stew, potato-salad, ginger-cookies, spinach-pie, onion-bread',
)
export const BOOKS = words(`
  The Quiet Harbour, A Year of Bread, Maps of Winter, The Last Ferry, Small Gardens, Learning to Sail, Stone and Light,
  The Clockmaker, Notes on Sleep, Open Water, The Salt Road, Paper Cities`)

export const LOG_EVENTS = words(`
  INFO backup finished, INFO backup started, WARN disk nearly full, ERROR connection lost, INFO user signed in,
  INFO cache cleared, WARN slow response, ERROR upload failed, INFO index rebuilt, WARN retry scheduled,
  ERROR certificate expired, INFO mail queue empty, INFO restart complete, ERROR printer offline`)

export const SETTINGS = words(`
  theme = dark, theme = light, language = en, font_size = 14, autosave = on, autosave = off, spell_check = on,
  interval = 30, retries = 3, timeout = 20, port = 8080, host = mail.example.org, notify = daily, keep_days = 60,
  compress = yes, volume = 7, proxy = none, tab_width = 4, line_numbers = on, sync = hourly`)

export const COSTS = words(
  'travel, printing, catering, software, hardware, venue, training, postage, insurance, advertising, furniture, repairs',
)

export const CODE = lines(`
  import sys
  import helper
  def load(path):
  return open(path).read()
  def main():
  print("done")
  total = 0
  for row in rows:
  total += row.amount
  if __name__ == "__main__":
  # check the totals twice
  # remove the old format later`)

export const RULES = words(`
  Book trips at least two weeks ahead, Receipts are due within 30 days, Passwords have twelve characters or more,
  Lock the screen when you leave, Visitors sign in at the desk, Leave is approved by the team lead,
  Keep contracts for ten years, Report a lost badge at once, No food in the server room, Save drafts on the shared drive,
  Remote work needs a secure network, Expenses above 500 EUR need two signatures`)

/** Names for files that users make, rename or copy to. */
export const FILE_NAMES = words(`
  draft.txt, summary.txt, questions.txt, agenda.txt, feedback.txt, checklist.txt, ideas-2.txt, follow-up.txt, memo.txt,
  outline-new.txt, contacts.txt, schedule.txt, quotes.txt, wishlist.txt, handover.txt, minutes-march.txt, offer.txt,
  decisions.txt, briefing.txt, report-final.txt`)
export const DIRECTORY_NAMES = words(`
  archive, old, drafts-2026, backup, review, to-sort, spring, march, clients, scans, exports, samples, private, final,
  templates, handbook, sketches, receipts`)
export const ARCHIVE_NAMES = words('backup-march, bundle, handover, snapshot, pack-1, export-2026, safe-copy, week-10')
export const LINK_NAMES = words('shortcut, latest, current, quick-notes, favourite, main-file, see-also, pointer')

/** Lines that users write or append. */
export const LINES = lines(`
  Call the landlord on Tuesday
  Ask for a second quote
  Meeting moved to 14:30
  Send the figures to finance
  Remember to renew the licence
  Two boxes are still missing
  Order more paper before Friday
  The key is at the front desk
  Check the totals once more
  Invite the new colleagues
  Waiting for the signed contract
  Budget approved by the board
  Train leaves at 07:42
  Test the backup on Monday
  Reviewed and ready to print
  Bring the samples to the workshop`)

export const REPLACEMENTS = words(
  'postponed, approved, urgent, cancelled, Monday, Thursday, autumn, optional, complete, external, revised, pending',
)
