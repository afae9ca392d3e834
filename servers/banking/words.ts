import { wordList } from '../kernel/text.js'

/** The vocabulary that banking environments are made of. */

export const FIRST_NAMES = wordList(`
  Ana Ben Carla Daniel Elena Felix Grace Hugo Ines Jonas Kira Leon Maya Noah Olga Paul Quinn Rosa Sam Tara
  Uma Victor Wendy Xavier Yara Zoe Adam Bella Carlos Diana Erik Fiona George Hanna Ivan Julia Karl Lena Marco Nina
  Oscar Petra Ravi Sofia Tom Ursula Vera Will Amir Bianca Cesar Dora Emil Flora Gina Henry Iris Jack Kenji Laura`)

export const LAST_NAMES = wordList(`
  Lima Costa Weber Novak Rossi Silva Berg Klein Moreau Ortiz Patel Quist Reyes Sato Tanaka Urban Vega Wolf Young Zeller
  Adler Baker Castro Dunn Evans Fischer Garcia Hansen Ito Jensen Keller Larsen Meyer Nolan Olsen Parker Romero Stone
  Torres Unger Vargas Walsh Ximenez York Zhang Abbott Bloom Carter Diaz Ellis Frost Grant Holt Ibsen Jones Kovac Lund
  Marsh Nash Owens`)

/** Banks that take part in payments. */
export const BANKS = wordList(`
  Northwind Harborview Redwood Silverline Bluestone Evergreen Lakeside Summit Unity Pioneer Crestwood Goldleaf`)

/** Names that customers give their accounts, by kind of account. Many names closely resemble another name. */
export const ACCOUNT_NAMES = {
  checking: [
    'Daily Spending',
    'Daily Bills',
    'Travel Money',
    'Travel Spending',
    'Pocket Money',
    'Student Budget',
    'Rent Money',
    'Grocery Money',
    'Salary Pot',
  ],
  savings: [
    'Holiday Fund',
    'Holiday Savings',
    'Emergency Fund',
    'Emergency Savings',
    'Wedding Fund',
    'Car Fund',
    'New Home Fund',
    'Rainy Day Savings',
    'Kitchen Fund',
    'Winter Trip Fund',
    'Christmas Savings',
    'Bike Fund',
  ],
  joint: [
    'Household Budget',
    'Household Bills',
    'Family Budget',
    'Family Bills',
    'Shared Groceries',
    'Shared Rent',
    'Garden Project',
    'Kids Fund',
  ],
  business: [
    'Studio Budget',
    'Studio Taxes',
    'Workshop Budget',
    'Workshop Taxes',
    'Office Costs',
    'Invoice Money',
    'Tax Reserve',
    'Company Spending',
  ],
} as const

/** Names of cards of a business. */
export const BUSINESS_CARDS = wordList('Travel Online Fuel Office Gold Silver Backup Black White')
/** Names of all other cards. */
export const PRIVATE_CARDS = wordList(`
  Grocery Dinner Family Student Everyday Shopping Holiday Commute Music Market Sport Garden Red Blue Green`)
export const CARD_BRANDS = ['visa', 'amex', 'maestro', 'mastercard'] as const

export const MERCHANT_FIRST = wordList(`
  Maple Harbor Copper Sunny Corner Golden Little Royal Central Happy Lucky Urban Rustic Bright Ocean Village Star Grand
  Cedar Willow Velvet Crystal Amber Coral`)
/** Where little is spent at a time, and nothing is sent home. */
export const EVERYDAY_TRADES = wordList('Bakery Coffee Diner Cinema Pizza Noodles Taxi Fuel Salon Market Pharmacy')
/** Trades of shops that sell goods that may fail to arrive. */
export const SHOP_TRADES = wordList(
  'Books Florist Hardware Toys Shoes Optics Records Bikes Garden Electronics Furniture',
)
export const MERCHANT_SECOND = [...EVERYDAY_TRADES, ...SHOP_TRADES, 'Hotel', 'Tailor']

/** What is noted when a company is paid. */
const COMPANY_NOTES: ReadonlyMap<string, readonly string[]> = new Map([
  ['City Gym', ['membership march', 'yoga class']],
  ['Oak Street Rentals', ['march rent', 'parking space']],
  ['Green Energy', ['electricity bill', 'gas bill']],
  ['River Water', ['water bill']],
  ['Metro Transit', ['monthly pass', 'train fare']],
  ['Bright Dental', ['dentist bill', 'check-up']],
  ['Hill School', ['school books', 'school lunches', 'class trip']],
  ['Sun Insurance', ['car insurance', 'home insurance']],
  ['Lake Music Club', ['piano lessons', 'concert tickets']],
  ['Family Daycare', ['daycare march', 'holiday care']],
  ['Fast Internet', ['internet march', 'new router']],
  ['North Garage', ['car repair', 'winter tires']],
])

/** Payees that are not people. */
export const COMPANIES = [...COMPANY_NOTES.keys()]

/** What is noted when a person is paid. */
const NOTES = [
  'dinner last night',
  'concert tickets',
  'thanks for lunch',
  'birthday gift',
  'train fare',
  'shared groceries',
  'weekend trip',
  'garden work',
  'new bike parts',
  'holiday deposit',
  'electricity share',
  'coffee machine',
  'babysitting friday',
  'moving help',
  'wedding present',
  'cinema on sunday',
  'petrol money',
  'half of the hotel',
] as const

/** Those of them of which nobody pays much. */
const SMALL = /lunch|dinner|cinema|fare|groceries|petrol|babysitting|gift/

/** Returns the notes that fit a payment to the payee of this name and, if `amount` is given, of this amount. */
export function notesFor(payee: string, amount?: number): readonly string[] {
  const notes = COMPANY_NOTES.get(payee) ?? NOTES
  return amount === undefined || COMPANY_NOTES.has(payee)
    ? notes
    : notes.filter((note) => SMALL.test(note) === amount < 70)
}
