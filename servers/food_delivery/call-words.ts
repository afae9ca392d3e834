import type { CallWords } from '../kernel/define-environment.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  find_restaurants: {
    goal: 'find a restaurant that delivers',
    answer: 'I found {found:restaurant}[: {restaurants*{name} (rated {rating}, from {minimum}, open {hours})}].',
    said: ['cuisine'],
    wishes: ['find a place'],
  },
  show_menu: {
    goal: 'look at the menu of a restaurant',
    answer: '{name} has {found:dish} for you[: {dishes*{name} for {price}}].',
    wishes: ['see what a place offers'],
  },
  show_dish: {
    goal: 'check a dish for allergens',
    answer:
      '{name} from {restaurant} costs {price}. Allergens: {allergens}.[ Options: {options*{option} (+{extra})}.]{options?| There are no options to choose.} {left:portion} {left=is|are} left.',
  },
  add_dish_to_basket: {
    goal: 'put a dish in my basket',
    answer:
      '{quantity:portion} of {name} {quantity=is|are} in the basket now. The food comes to {food}; the minimum order is {minimum}.',
    next: ['apply_promo', 'place_food_order'],
    checks: ['show_basket'],
    wishes: ['put into the cart'],
  },
  show_basket: {
    goal: 'check what is in my food basket',
    answer:
      '{dishes#dish} {dishes=is|are} in the basket[: {dishes*{name} ({quantity:portion})}]. The total is {total}, and your credit is {credit}.[ Promos that the restaurant takes: {promos*{promo} ({off} off from {minimum} on)}.]',
    wishes: ['see the cart'],
  },
  empty_basket: {
    goal: 'empty my food basket',
    answer: 'Your basket is empty now; {removed:dish} {removed=was|were} in it.',
    next: ['add_dish_to_basket'],
    checks: ['find_restaurants'],
  },
  apply_promo: {
    goal: 'use a promo code',
    answer: 'The promo {promo} takes {discount} off the {food} for the food.',
    next: ['place_food_order'],
    checks: ['show_basket'],
    wishes: ['redeem a code'],
  },
  list_dropoffs: {
    goal: 'see where I can have food delivered',
    answer: 'You have {found:drop-off} there[: {dropoffs*{name} at {address}}].',
    said: ['city'],
    elsewhere: ['shopping:add_delivery_address', 'maps:save_place'],
    wishes: ['list kept addresses'],
  },
  add_dropoff: {
    goal: 'save a place for deliveries',
    answer: '{address} is saved as the drop-off {name}.',
    next: ['place_food_order'],
    checks: ['find_restaurants'],
    wishes: ['keep an address'],
  },
  top_up_credit: {
    goal: 'top up my food credit',
    answer: 'I added {amount}; your credit is {credit} now.',
    next: ['place_food_order'],
    checks: ['show_basket'],
  },
  place_food_order: {
    goal: 'order the food in my basket',
    answer:
      'Your order from {name} is {status} and arrives at {arrives}. You paid {paid} and have {credit} of credit left.',
    next: ['instruct_courier'],
    checks: [],
    wishes: ['buy'],
  },
  list_food_orders: {
    goal: 'look through my food orders',
    answer: 'You have {found:@state food order}[: {food_orders*{name} on {date} for {paid}}].',
    wishes: ['list what was bought'],
  },
  track_food_order: {
    goal: 'check where my food is',
    answer:
      'Your order from {name} is {status}[, with {courier} as the courier]; the delivery time is {arrives}, at {address}. It holds {dishes*{quantity:portion} of {name}}.',
    wishes: ['follow an order'],
  },
  cancel_food_order: {
    goal: 'cancel a food order',
    answer: 'Your order from {name} is {status}; {refund} was refunded, so your credit is {credit}.',
    // Who calls one order off may want something else of the restaurant.
    checks: ['show_menu'],
    wishes: ['undo an order'],
  },
  instruct_courier: {
    goal: 'leave a note for the courier',
    answer: 'The courier of your order from {name} has the note "{instruction}".',
    checks: [],
  },
  report_missing_dish: {
    goal: 'report a missing dish',
    answer: '{name} refunded {refund}, so your credit is {credit} now.',
    next: ['rate_food_order'],
    checks: [],
  },
  rate_food_order: {
    goal: 'rate a food order',
    answer: 'You gave {name} {stars:star}; the restaurant is rated {rating} now.',
    checks: [],
    wishes: ['rate what was bought'],
  },
}
