import { wordList } from '../kernel/text.js'
import type { ALLERGENS, CUISINES } from './schema.js'

type Cuisine = (typeof CUISINES)[number]
type Allergen = (typeof ALLERGENS)[number]

interface Option {
  readonly option: string
  readonly extra: number
}
const option = (name: string, extra = 0): Option => ({ option: name, extra })

const NONE: readonly Option[] = []
const SPICE = [option('mild'), option('medium'), option('hot')]
const SIZE = [option('regular'), option('large', 3)]
const FILLING = [option('chicken'), option('mushroom'), option('beef', 2)]
const CRUST = [option('thin'), option('thick'), option('stuffed', 3)]
const COUNT = [option('six'), option('twelve', 6)]

/** A dish as cookbooks know it; restaurants differ in price. */
export interface Recipe {
  readonly name: string
  readonly price: number
  readonly allergens: readonly Allergen[]
  readonly options: readonly Option[]
}

const recipe = (name: string, price: number, allergens: readonly Allergen[], options = NONE): Recipe => ({
  name,
  price,
  allergens,
  options,
})

export const RECIPES: Readonly<Record<Cuisine, readonly Recipe[]>> = {
  greek: [
    recipe('Moussaka', 14, ['dairy', 'eggs', 'gluten']),
    recipe('Lamb Gyros', 11, ['gluten', 'dairy'], SIZE),
    recipe('Souvlaki Skewers', 12, [], FILLING),
    recipe('Greek Salad', 9, ['dairy']),
    recipe('Stuffed Peppers', 11, []),
    recipe('Spinach Pie', 8, ['dairy', 'eggs', 'gluten']),
    recipe('Grilled Octopus', 17, ['shellfish']),
    recipe('Lentil Soup', 7, [], SIZE),
    recipe('Honey Baklava', 6, ['gluten', 'nuts']),
    recipe('Chickpea Stew', 10, []),
  ],
  indian: [
    recipe('Butter Chicken', 14, ['dairy', 'nuts'], SPICE),
    recipe('Lamb Vindaloo', 15, [], SPICE),
    recipe('Palak Paneer', 12, ['dairy']),
    recipe('Vegetable Samosas', 6, ['gluten'], SIZE),
    recipe('Chana Masala', 11, [], SPICE),
    recipe('Garlic Naan', 4, ['gluten', 'dairy']),
    recipe('Prawn Curry', 16, ['shellfish'], SPICE),
    recipe('Chicken Biryani', 13, ['nuts']),
    recipe('Mango Lassi', 5, ['dairy'], SIZE),
    recipe('Red Lentil Dal', 9, []),
  ],
  italian: [
    recipe('Margherita Pizza', 11, ['gluten', 'dairy'], CRUST),
    recipe('Salami Pizza', 13, ['gluten', 'dairy'], CRUST),
    recipe('Mushroom Risotto', 14, ['dairy']),
    recipe('Beef Lasagne', 13, ['gluten', 'dairy', 'eggs']),
    recipe('Seafood Linguine', 16, ['gluten', 'shellfish']),
    recipe('Tomato Soup', 7, [], SIZE),
    recipe('Caprese Salad', 9, ['dairy']),
    recipe('Pesto Gnocchi', 12, ['gluten', 'nuts', 'dairy']),
    recipe('Classic Tiramisu', 7, ['dairy', 'eggs', 'gluten']),
    recipe('Grilled Vegetables', 10, []),
  ],
  japanese: [
    recipe('Salmon Nigiri', 14, [], COUNT),
    recipe('Tofu Ramen', 12, ['soy', 'gluten'], SPICE),
    recipe('Pork Ramen', 14, ['soy', 'gluten', 'eggs'], SPICE),
    recipe('Chicken Teriyaki', 13, ['soy']),
    recipe('Vegetable Tempura', 10, ['gluten', 'eggs']),
    recipe('Avocado Rolls', 9, [], COUNT),
    recipe('Prawn Gyoza', 9, ['shellfish', 'gluten'], COUNT),
    recipe('Miso Soup', 5, ['soy']),
    recipe('Beef Udon', 14, ['gluten', 'soy'], SIZE),
    recipe('Matcha Mochi', 6, ['dairy']),
  ],
  mexican: [
    recipe('Street Tacos', 10, [], FILLING),
    recipe('Bean Burrito', 11, ['gluten', 'dairy'], SIZE),
    recipe('Cheese Quesadilla', 9, ['gluten', 'dairy']),
    recipe('Loaded Nachos', 10, ['dairy'], SIZE),
    recipe('Mole Enchiladas', 14, ['nuts', 'dairy']),
    recipe('Prawn Ceviche', 15, ['shellfish']),
    recipe('Fresh Guacamole', 7, []),
    recipe('Corn Soup', 8, ['dairy'], SPICE),
    recipe('Cinnamon Churros', 6, ['gluten', 'eggs']),
    recipe('Chili Bowl', 12, [], SPICE),
  ],
  thai: [
    recipe('Pad Thai', 12, ['nuts', 'eggs', 'soy'], FILLING),
    recipe('Green Curry', 13, ['shellfish'], SPICE),
    recipe('Massaman Curry', 14, ['nuts'], SPICE),
    recipe('Coconut Soup', 8, []),
    recipe('Spring Rolls', 6, ['gluten', 'soy'], COUNT),
    recipe('Papaya Salad', 9, ['nuts', 'shellfish'], SPICE),
    recipe('Basil Chicken', 12, ['soy'], SPICE),
    recipe('Satay Skewers', 10, ['nuts', 'soy']),
    recipe('Pineapple Rice', 11, ['eggs', 'soy']),
    recipe('Mango Sticky Rice', 7, []),
  ],
}

/** First words of restaurant names. */
export const RESTAURANT_HEADS: Readonly<Record<Cuisine, readonly string[]>> = {
  greek: wordList('Olive Santorini Athena Aegean Marble Olympus'),
  indian: wordList('Saffron Bombay Lotus Tandoor Cardamom Maharaja'),
  italian: wordList('Bella Roma Basil Napoli Vesuvio Toscana'),
  japanese: wordList('Sakura Tokyo Bamboo Kyoto Crane Wasabi'),
  mexican: wordList('Cactus Agave Azteca Jalapeno Sombrero Cantina'),
  thai: wordList('Siam Orchid Bangkok Jasmine Elephant Lemongrass'),
}
export const RESTAURANT_TAILS = wordList('Kitchen House Garden Corner Table Palace Express Terrace')

/** First words of promo codes for one cuisine; `ANY_PROMOS` are for all restaurants. */
export const CUISINE_PROMOS: Readonly<Record<Cuisine, string>> = {
  greek: 'olive',
  indian: 'curry',
  italian: 'pizza',
  japanese: 'sushi',
  mexican: 'taco',
  thai: 'noodle',
}
export const ANY_PROMOS = wordList('welcome spring monday lucky rainy weekend birthday feast lunch friends')

export const HOME_DROPOFFS = wordList('Home Work Gym Studio Library Workshop')
export const AWAY_DROPOFFS = wordList('Grandma Cabin Cousins Parents')
/** Names for drop-offs that are added in a session. */
export const NEW_DROPOFFS = wordList(`
  Office Neighbours School Club Lab Clinic Shop Warehouse Theatre Garage Hotel Gallery Allotment Kindergarten`)

export const COURIERS = wordList(
  'Ana Bilal Chen Dilara Emil Farida Goran Hana Ivo Jamal Kofi Lina Mateo Nuno Oksana Priya',
)

export const INSTRUCTIONS = [
  'ring the second bell',
  'leave it at the door',
  'please do not ring, the baby sleeps',
  'third floor on the left',
  'hand it to the neighbour',
  'call me from the gate',
  'use the back entrance',
  'wait in the lobby',
  'the bell is broken, please knock',
  'put it on the bench outside',
  'meet me at the parking lot',
  'give it to the receptionist',
  'mind the dog in the yard',
  'take the lift to floor five',
  'the code of the gate is on the sign',
  'bring cutlery for two',
] as const
