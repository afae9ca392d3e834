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

/** Topics of notes, plans and minutes. */
export const TOPICS = words(`
  the spring campaign, the office move, the new website, the supplier contract, the hiring plan, the budget review,
  the summer workshop, the customer survey, the data backup, the printer lease, the safety training, the trade fair,
  the price list, the holiday rota, the phone tariff, the tax return, the heating repair, the team outing,
  the newsletter, the parking permits, the warehouse keys, the coffee machine, the visitor badges, the cleaning service`)

/** Tasks in the lists of tasks. */
export const TASKS = lines(`
  Review the price list
  Book the room for the summer workshop
  Order new visitor badges
  Compare the offers for the printer lease
  Prepare the budget review
  Renew the parking permits
  Test the data backup
  Write the newsletter
  Finish the hiring plan
  Send out the customer survey
  Sign the supplier contract
  Repair the coffee machine
  Check the heating repair
  Present the new website
  Plan the team outing
  Hand in the tax return
  Update the holiday rota
  Collect the warehouse keys
  Design the stand for the trade fair
  Choose photos for the spring campaign
  Invite everybody to the safety training
  Cancel the old phone tariff
  Pack the boxes for the office move
  Pay the cleaning service`)

export const OUTCOMES = words(`
  agreed by everyone, waiting for numbers, needs a second quote, moved to April, done last week, blocked by legal,
  half finished, to be decided on Friday, cheaper than expected, one week late, ready for review, on hold until May`)

export const BELONGINGS = words(`
  passport, charger, rain jacket, notebook, headphones, sunglasses, towel, camera, umbrella, adapter, travel pillow,
  walking boots, first aid kit, toothbrush, water bottle, playing cards, swimsuit, torch`)

export const GROCERIES = words(`
  flour, lentils, tomatoes, olive oil, basil, rice, onions, garlic, butter, eggs, lemons, chickpeas, spinach, cream,
  potatoes, carrots, ginger, honey, yoghurt, almonds, mushrooms, thyme`)
/** Recipes, with what goes into them. */
export const RECIPES: Readonly<Record<string, readonly string[]>> = {
  'lentil-soup': words('lentils, onions, carrots, garlic, olive oil'),
  'tomato-tart': words('tomatoes, flour, butter, basil, eggs'),
  'lemon-cake': words('lemons, flour, butter, eggs, almonds'),
  'mushroom-rice': words('rice, mushrooms, onions, butter, thyme'),
  'chickpea-stew': words('chickpeas, tomatoes, garlic, spinach, olive oil'),
  'potato-salad': words('potatoes, yoghurt, onions, eggs, olive oil'),
  'ginger-cookies': words('flour, butter, ginger, honey, eggs'),
  'spinach-pie': words('spinach, flour, cream, eggs, butter'),
  'onion-bread': words('flour, onions, olive oil, yoghurt'),
  'carrot-cake': words('carrots, almonds, eggs, honey, flour'),
  'dal-with-rice': words('lentils, rice, ginger, garlic, tomatoes'),
}
export const BOOKS = words(`
  The Quiet Harbour, A Year of Bread, Maps of Winter, The Last Ferry, Small Gardens, Learning to Sail, Stone and Light,
  The Clockmaker, Notes on Sleep, Open Water, The Salt Road, Paper Cities`)

export const LOG_EVENTS = words(`
  INFO backup finished, INFO backup started, WARN disk nearly full, ERROR connection lost, INFO user signed in,
  INFO cache cleared, WARN slow response, ERROR upload failed, INFO index rebuilt, WARN retry scheduled,
  ERROR certificate expired, INFO mail queue empty, INFO restart complete, ERROR printer offline`)

/** Settings by the section that they stand in. */
export const SETTINGS: Readonly<Record<string, readonly string[]>> = {
  editor:
    words(`theme = dark, theme = light, font_size = 14, autosave = on, autosave = off, spell_check = on, tab_width = 4,
    line_numbers = on, line_numbers = off`),
  mail: words(
    'host = mail.example.org, notify = daily, notify = hourly, interval = 30, retries = 3, signature = short, sync = hourly',
  ),
  network: words('proxy = none, timeout = 20, retries = 3, port = 8080, host = lan.example.org, wifi = on'),
  calendar: words(
    'language = en, language = fr, notify = daily, notify = never, sync = hourly, week_starts = monday, interval = 15',
  ),
  printer: words(
    'paper = a4, paper = a3, colour = off, colour = on, duplex = on, duplex = off, quality = draft, copies = 1',
  ),
  backup: words(
    'interval = 24, keep_days = 60, compress = yes, compress = no, retries = 3, notify = daily, target = drop',
  ),
}

export const COSTS = words(
  'travel, printing, catering, software, hardware, venue, training, postage, insurance, advertising, furniture, repairs',
)

/** Short programs, each a whole one. */
export const PROGRAMS: readonly (readonly string[])[] = [
  ['import csv', 'total = 0', 'for row in csv.reader(open("budget.csv")):', '    total += int(row[1])', 'print(total)'],
  ['import sys', 'def load(path):', '    return open(path).read()', 'print(len(load(sys.argv[1])))', 'print("done")'],
  ['from pathlib import Path', 'for path in Path(".").glob("*.txt"):', '    print(path.name)', 'print("done")'],
  ['import json', 'def save(rows, path):', '    json.dump(rows, open(path, "w"))', '# check the totals twice'],
  [
    'import time',
    'def retry(call, times=3):',
    '    for _ in range(times):',
    '        call()',
    '        time.sleep(20)',
  ],
  ['def total(rows):', '    return sum(row.amount for row in rows)', '# remove the old format later'],
]
/** Edits that users make in the programs: old text and new text. */
export const CODE_EDITS = [
  ['"done"', '"finished"'],
  ['total', 'amount'],
  ['rows', 'records'],
  ['times=3', 'times=5'],
  ['sleep(20)', 'sleep(60)'],
  ['*.txt', '*.csv'],
  ['load', 'read_all'],
] as const

export const RULES = words(`
  Book trips at least two weeks ahead, Receipts are due within 30 days, Passwords have twelve characters or more,
  Lock the screen when you leave, Visitors sign in at the desk, Leave is approved by the team lead,
  Keep contracts for ten years, Report a lost badge at once, No food in the server room, Save drafts on the shared drive,
  Remote work needs a secure network, Expenses above 500 EUR need two signatures`)

/** Names of files that lie in the trash. */
export const THROWN_NAMES = words(
  'draft.txt, summary.txt, questions.txt, agenda.txt, feedback.txt, memo.txt, offer.txt, briefing.txt, quotes.txt',
)

/** Lines that users write down in notes. */
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

/** Edits that users make in notes: old text and new text. */
export const NOTE_EDITS = [
  ['Tuesday', 'Thursday'],
  ['Friday', 'Wednesday'],
  ['Monday', 'Saturday'],
  ['14:30', '16:00'],
  ['07:42', '08:12'],
  ['second quote', 'third quote'],
  ['Two boxes', 'Three boxes'],
  ['landlord', 'plumber'],
  ['front desk', 'neighbour'],
  ['licence', 'passport'],
] as const
