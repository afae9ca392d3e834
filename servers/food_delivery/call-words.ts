import type { CallWords } from '../kernel/define-server.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  find_restaurants: {
    goal: 'find a restaurant that delivers',
    answer: 'I found {found:restaurant}[: {restaurants*{name} (rated {rating}, from {minimum}, open {hours})}].',
  },
  show_menu: {
    goal: 'see the menu of a restaurant',
    answer: '{name} has {found:dish} for you[: {dishes*{name} for {price}}].',
  },
  show_dish: {
    goal: 'see what is in a dish',
    answer:
      '{name} costs {price} and contains {allergens}.[ Options: {options*{option} (+{extra})}.] {left:portion} {left=is|are} left.',
  },
  add_dish_to_basket: {
    goal: 'put a dish in my basket',
    answer:
      '{quantity} of {name} {quantity=is|are} in the basket. The food comes to {food}; the restaurant wants at least {minimum}.',
    next: ['apply_promo', 'place_food_order'],
  },
  show_basket: {
    goal: 'see what is in my food basket',
    answer:
      '{dishes#dish} {dishes=is|are} in the basket[: {dishes*{quantity} of {name}}]. With a discount of {discount} that makes {total}, and your credit is {credit}.[ Promos that fit: {promos*{promo} ({off} off from {minimum})}.]',
  },
  empty_basket: {
    goal: 'empty my food basket',
    answer: 'The basket is empty now; I took out {removed:dish}.',
    next: ['add_dish_to_basket'],
  },
  apply_promo: {
    goal: 'use a promo code',
    answer: '{promo} takes {discount} off the food at {food}.',
    next: ['place_food_order'],
  },
  list_dropoffs: {
    goal: 'see where I have food delivered to',
    answer: 'You have {found:drop-off} there[: {dropoffs*{name} at {address}}].',
    elsewhere: ['shopping:add_delivery_address', 'maps:save_place'],
  },
  add_dropoff: {
    goal: 'save a place for deliveries',
    answer: '{name} is saved as a drop-off at {address}, in the zone {zone}.',
    next: ['place_food_order'],
  },
  top_up_credit: {
    goal: 'top up my food credit',
    answer: 'I added {amount}; your credit is {credit} now.',
    next: ['place_food_order'],
  },
  place_food_order: {
    goal: 'order the food in my basket',
    answer:
      'Your order at {name} is {status} and arrives at {arrives}. You paid {paid} and have {credit} of credit left.',
    next: ['instruct_courier'],
  },
  list_food_orders: {
    goal: 'see my food orders',
    answer: 'You have {found:@state food order}[: {food_orders*{name} on {date} for {paid}}].',
  },
  track_food_order: {
    goal: 'see where my food is',
    answer:
      'Your order from {name} is {status}[, by {courier}]: {arrives} at {address}. It holds {dishes*{quantity} of {name}}.',
  },
  cancel_food_order: {
    goal: 'cancel a food order',
    answer: 'The order at {name} is {status}; {refund} was refunded, so your credit is {credit}.',
  },
  instruct_courier: {
    goal: 'tell the courier something',
    answer: 'The courier of your {name} order was told: "{instruction}".',
  },
  report_missing_dish: {
    goal: 'report a dish that was missing',
    answer: '{name} refunded {refund}, so your credit is {credit} now.',
    next: ['rate_food_order'],
  },
  rate_food_order: { goal: 'rate a food order', answer: 'You gave {name} {stars:star}; it is rated {rating} now.' },
}
