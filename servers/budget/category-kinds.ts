import type { Category } from './schema.js'

/** The categories that households have, and what is bought out of them. */

export interface Item {
  readonly name: string
  /** Lowest price of the item, in EUR. */
  readonly least: number
  /** Highest price of the item, in EUR. */
  readonly most: number
}

export interface CategoryKind extends Pick<Category, 'name' | 'kind' | 'teens'> {
  /** Items that are paid for out of the category. */
  readonly items: readonly Item[]
  /** Recurring expenses that fall into it, with the least and the most they cost a month. */
  readonly regular: readonly (readonly [name: string, least: number, most: number])[]
}

/** @param items  with commas between them: what is bought, and the least and most it costs, as in `Bread and milk 4-15` */
const kind = (
  name: string,
  limit: 'hard' | 'soft',
  teens: boolean,
  items: string,
  regular: CategoryKind['regular'] = [],
): CategoryKind => ({
  name,
  kind: limit,
  teens,
  items: items.trim().replaceAll(/\s+/g, ' ').split(', ').map(itemFrom),
  regular,
})

function itemFrom(line: string): Item {
  const [, name, least, most] = /^(.+) (\d+)-(\d+)$/.exec(line)!
  return { name: name!, least: Number(least), most: Number(most) }
}

/** Every household has these. */
export const FIXED = [
  kind(
    'Rent',
    'hard',
    false,
    `
    Spare key 8-20, Cellar storage 15-40`,
    [['Apartment Rent', 620, 1180]],
  ),
  kind(
    'Utilities',
    'hard',
    false,
    `
    Chimney sweep 30-70, Boiler service 40-120, Meter reading 10-25`,
    [
      ['Power Bill', 45, 130],
      ['Water Bill', 20, 60],
    ],
  ),
] as const

export const HOME = [
  kind(
    'Insurance',
    'hard',
    false,
    `
    Travel insurance 18-60, Bike insurance 12-45, Luggage insurance 10-30, Phone insurance 10-40, Ski
    insurance 12-40, Legal insurance 20-60`,
    [['Car Insurance', 35, 90]],
  ),
  kind(
    'Repairs',
    'soft',
    false,
    `
    Wall paint 20-80, Kitchen tap 35-120, Door lock 20-75, Window seal 10-30, Shower hose 12-35, Light
    switches 8-30, Drill bits 10-40, Floor polish 8-25, Plumber visit 60-150, Toolbox 25-80`,
  ),
  kind(
    'Furniture',
    'soft',
    false,
    `
    Bookshelf 40-150, Desk lamp 18-70, Hallway rug 25-120, Kitchen chairs 60-150, Curtains 30-110, Bedside
    table 35-120, Sofa cushions 15-60, Wardrobe hooks 8-25, Mirror 25-110, Shoe rack 20-60`,
  ),
  kind(
    'Garden',
    'soft',
    false,
    `
    Tomato plants 8-30, Potting soil 8-35, Rose bushes 20-70, Garden hose 18-60, Hedge shears 20-65, Flower
    bulbs 6-30, Grass seed 8-35, Balcony boxes 15-50, Watering can 10-30, Fertiliser 8-25`,
    [['Lawn Service', 20, 50]],
  ),
] as const

export const DAILY = [
  kind(
    'Groceries',
    'soft',
    false,
    `
    Weekly shop 45-140, Bread and milk 4-15, Fruit and vegetables 10-35, Cheese and ham 8-30, Coffee beans
    8-28, Sunday roast 15-45, Drinks for the weekend 12-45, Baking supplies 6-25, Breakfast things 8-25,
    Frozen food 12-40`,
  ),
  kind(
    'Transport',
    'hard',
    true,
    `
    Taxi home 10-45, Petrol 30-90, Parking in town 4-18, Train tickets 12-80, Bike repair 15-75, Car wash
    8-25, Tram tickets 4-20, Airport bus 10-30, Tyre change 25-80, Scooter ride 4-12`,
    [['Bus Pass', 30, 75]],
  ),
  kind(
    'Pharmacy',
    'soft',
    false,
    `
    Cough syrup 6-18, Reading glasses 15-60, Sun cream 8-28, Vitamins 8-35, Plasters 4-12, Allergy tablets
    8-30, Contact lenses 20-70, Thermometer 8-25, Hand cream 4-15, Toothpaste and brushes 5-20`,
  ),
  kind(
    'Household',
    'hard',
    false,
    `
    Washing powder 6-25, Dry cleaning 12-45, Light bulbs 6-30, Bin bags 4-12, Kitchen towels 5-18, Frying pan
    18-60, Bed linen 25-90, Vacuum bags 8-25, Candles 5-20, Batteries 6-20`,
    [['Cleaning Service', 40, 110]],
  ),
  kind(
    'Pets',
    'soft',
    false,
    `
    Dog food 12-45, Cat litter 8-25, Vet visit 40-140, Aquarium filter 12-40, New collar 8-25, Flea drops
    10-30, Kennel for the weekend 40-120, Bird seed 5-20, Scratching post 20-70, Dog grooming 25-60`,
    [['Pet Insurance', 12, 40]],
  ),
] as const

export const FAMILY = [
  kind(
    'School',
    'hard',
    false,
    `
    Exercise books 6-25, School trip 20-120, Pencil case 8-25, Gym shoes for school 20-60, Calculator 15-70,
    Class photos 10-30, School bag 25-90, Maths workbook 8-25, Photocopies 4-12, Language course 40-120`,
    [['School Lunch', 25, 80]],
  ),
  kind(
    'Clothing',
    'soft',
    true,
    `
    Winter jacket 50-160, New jeans 25-90, Running shoes 45-130, Socks and underwear 10-35, Summer dress
    20-80, Rain boots 18-55, Woollen hat 8-25, Shirt for work 20-60, Trousers taken in 10-30, T-shirts 12-45`,
  ),
  kind(
    'Gifts',
    'soft',
    false,
    `
    Birthday present 15-80, Flowers for grandma 12-40, Wedding present 40-150, Board game for a party 18-50,
    Box of chocolates 8-30, Bottle of wine 8-35, Baby clothes 15-50, Concert voucher 25-90, Photo album
    15-45, Get-well card 4-10`,
  ),
  kind(
    'Music Lessons',
    'hard',
    false,
    `
    Guitar strings 8-30, Sheet music 8-35, Piano tuning 60-140, Drum sticks 8-20, Violin hire 20-60, Recital
    tickets 10-40, Music stand 15-45, Singing workshop 30-90`,
    [['Piano Teacher', 40, 95]],
  ),
  kind(
    'Childcare',
    'hard',
    false,
    `
    Babysitter 20-80, Holiday club 40-140, Nappies 10-35, Swimming class 20-60, Pushchair wheels 15-45,
    Playgroup 8-30, Painting class 12-45, Forest day 10-35`,
    [['Daycare Fee', 90, 260]],
  ),
] as const

export const LEISURE = [
  kind(
    'Dining Out',
    'soft',
    true,
    `
    Pizza night 18-60, Sunday brunch 20-75, Lunch at work 8-20, Ice cream 4-15, Sushi 18-80, Coffee and cake
    6-22, Burgers with friends 12-45, Anniversary dinner 60-150, Falafel 5-15, Tapas evening 25-90`,
  ),
  kind(
    'Books',
    'hard',
    true,
    `
    Crime novel 8-20, Cookbook 15-40, Comics 5-20, Travel guide 12-28, Magazines 4-15, Audiobook 8-25,
    Second-hand books 4-20, Atlas 20-60, Poetry book 8-20, Fantasy series 25-70`,
  ),
  kind(
    'Cinema',
    'hard',
    true,
    `
    Cinema tickets 10-45, Popcorn and drinks 6-22, Theatre tickets 30-110, Film rental 4-8, Opera evening
    50-140, Puppet theatre 10-30, Musical tickets 45-130, Short film festival 12-40`,
    [['Film Streaming', 8, 20]],
  ),
  kind(
    'Sports',
    'hard',
    true,
    `
    Swimming tickets 5-25, Climbing hall 10-40, Tennis balls 6-15, Football boots 30-95, Yoga mat 15-45, Ski
    hire 30-120, Badminton court 8-25, Bike helmet 25-80, Judo suit 25-60, Rowing trip 12-45`,
    [['Gym Membership', 25, 60]],
  ),
  kind(
    'Hobbies',
    'soft',
    true,
    `
    Knitting wool 8-40, Model plane 15-60, Oil paints 15-55, Card game 8-30, Photo prints 6-30, Chess set
    20-70, Sewing kit 10-35, Video game 20-65, Beads and thread 5-20, Canvas 8-30`,
  ),
  kind(
    'Outings',
    'soft',
    true,
    `
    Zoo tickets 20-70, Museum visit 8-40, Boat trip 15-60, Funfair 12-50, Castle tour 10-35, Picnic things
    10-35, Water park 20-80, Botanical garden 6-20, Steam train ride 15-50, Minigolf 8-25`,
  ),
] as const

const KINDS = [...FIXED, ...HOME, ...DAILY, ...FAMILY, ...LEISURE]

/** Returns the items that are paid for out of the category of this name. */
export const itemsOf = (category: string): readonly Item[] => KINDS.find(({ name }) => name === category)!.items

/** Purchases of which a part may belong elsewhere, with the categories: there are things for the house in a weekly shop. */
const SHARED: ReadonlyMap<string, readonly string[]> = new Map(
  `Weekly shop: Household, Pharmacy, Pets; Drinks for the weekend: Gifts, Outings; Washing powder: Groceries;
  Kitchen towels: Groceries; Candles: Gifts; Batteries: Hobbies; Bed linen: Furniture; Light bulbs: Repairs; Dry cleaning: Clothing;
  Toothpaste and brushes: Household, Groceries; Picnic things: Groceries; Wall paint: Furniture, Household; Toolbox: Hobbies;
  Drill bits: Hobbies, Garden; Bookshelf: School, Books; Desk lamp: School; Curtains: Household; Sofa cushions: Household;
  Balcony boxes: Furniture; Flower bulbs: Gifts; School bag: Clothing; Gym shoes for school: Clothing, Sports; School trip: Outings;
  Exercise books: Books; Language course: Books; Running shoes: Sports, School; T-shirts: Sports, Gifts; Football boots: Clothing, School;
  Birthday present: Hobbies, Books; Board game for a party: Hobbies; Photo album: Hobbies; Bottle of wine: Groceries, Dining Out;
  Box of chocolates: Groceries; Baby clothes: Clothing; Concert voucher: Outings; Sheet music: Books, School; Recital tickets: Outings;
  Nappies: Household, Groceries; Swimming class: Sports; Painting class: Hobbies; Forest day: Outings; Taxi home: Dining Out, Cinema;
  Train tickets: Outings, School; Airport bus: Outings; Petrol: Outings; Lunch at work: Groceries; Anniversary dinner: Gifts;
  Tapas evening: Gifts; Sunday brunch: Gifts; Cookbook: Gifts; Comics: Gifts; Travel guide: Outings; Second-hand books: School, Gifts;
  Crime novel: Gifts; Popcorn and drinks: Dining Out; Cinema tickets: Gifts, Outings; Theatre tickets: Gifts; Musical tickets: Gifts;
  Swimming tickets: Outings; Ski hire: Outings; Bike helmet: Transport; Rowing trip: Outings; Knitting wool: Clothing, Gifts;
  Card game: Gifts; Photo prints: Gifts; Video game: Gifts; Zoo tickets: Childcare, School; Museum visit: School, Books;
  Boat trip: Dining Out, Transport; Castle tour: School; Water park: Sports; Steam train ride: Transport; Funfair: Dining Out`
    .replaceAll(/\s+/g, ' ')
    .split('; ')
    .map((line): [string, string[]] => {
      const [item, categories] = line.split(': ') as [string, string]
      return [item, categories.split(', ')]
    }),
)

/** Names of the categories that a part of the purchase may belong to. */
export const sharersOf = (description: string): readonly string[] => SHARED.get(description) ?? []
