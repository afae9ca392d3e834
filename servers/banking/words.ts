import { wordList } from '../kernel/text.js'

/** The vocabulary that banking worlds are made of. */

export const FIRST_NAMES = wordList(`
  Ana Ben Carla Daniel Elena Felix Grace Hugo Ines Jonas Kira Leon Maya Noah Olga Paul Quinn Rosa Sam Tara
  Uma Victor Wendy Xavier Yara Zoe Adam Bella Carlos Diana Erik Fiona George Hanna Ivan Julia Karl Lena Marco Nina
  Oscar Petra Ravi Sofia Tom Ursula Vera Will Amir Bianca Cesar Dora Emil Flora Gina Henry Iris Jack Kenji Laura`)

export const LAST_NAMES = wordList(`
  Lima Costa Weber Novak Rossi Silva Berg Klein Moreau Ortiz Patel Quist Reyes Sato Tanaka Urban Vega Wolf Young Zeller
  Adler Baker Castro Dunn Evans Fischer Garcia Hansen Ito Jensen Keller Larsen Meyer Nolan Olsen Parker Romero Stone
  Torres Unger Vargas Walsh Ximenez York Zhang Abbott Bloom Carter Diaz Ellis Frost Grant Holt Ibsen Jones Kovac Lund
  Marsh Nash Owens`)

/** Payees that are not people. */
export const COMPANIES = [
  'City Gym',
  'Oak Street Rentals',
  'Green Energy',
  'River Water',
  'Metro Transit',
  'Bright Dental',
  'Hill School',
  'Sun Insurance',
  'Lake Music Club',
  'Family Daycare',
  'Fast Internet',
  'North Garage',
] as const

/** Banks that take part in payments. */
export const BANKS = wordList(`
  Northwind Harborview Redwood Silverline Bluestone Evergreen Lakeside Summit Unity Pioneer Crestwood Goldleaf`)

export const ACCOUNT_TOPICS = wordList(`
  Rent Holiday Family Travel Garden Wedding School Winter Summer Home Music Health Studio Bike Kitchen Daily Emergency
  Car Pet Gift Moving Hobby Tax Salary`)
export const ACCOUNT_NOUNS = wordList('Fund Pot Money Reserve Budget Stash Purse Account')

export const CARD_TOPICS = wordList(`
  Travel Grocery Online Fuel Office Dinner Family Student Gold Silver Everyday Shopping Holiday Commute Backup Music
  Market Sport Garden Red Blue Green Black White`)
export const CARD_BRANDS = ['visa', 'amex', 'maestro', 'mastercard'] as const

export const MERCHANT_FIRST = wordList(`
  Maple Harbor Copper Sunny Corner Golden Little Royal Central Happy Lucky Urban Rustic Bright Ocean Village Star Grand
  Cedar Willow Velvet Crystal Amber Coral`)
export const MERCHANT_SECOND = wordList(`
  Bakery Books Coffee Market Pharmacy Diner Florist Hardware Cinema Toys Shoes Pizza Noodles Optics Records Bikes Hotel
  Taxi Fuel Salon Garden Tailor Electronics Furniture`)

export const NOTES = [
  'march rent',
  'dinner last night',
  'concert tickets',
  'thanks for lunch',
  'birthday gift',
  'train fare',
  'shared groceries',
  'piano lessons',
  'weekend trip',
  'garden work',
  'football club fee',
  'new bike parts',
  'school books',
  'car repair',
  'holiday deposit',
  'electricity share',
  'coffee machine',
  'babysitting friday',
  'yoga class',
  'printing costs',
  'moving help',
  'winter tires',
  'dentist bill',
  'wedding present',
] as const
