import type { CallWords } from '../kernel/define-environment.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  list_brands: {
    goal: 'find out which brands there are',
    answer: 'There {found=is|are} {found:brand} for {@category}[: {brands*{name} with {products:product}}].',
    said: ['category'],
  },
  search_products: {
    goal: 'find a product in the shop',
    answer: 'I found {found:product}[: {products*{title} by {brand} for {price}}].',
    wishes: ['find goods'],
  },
  browse_products: {
    goal: 'browse what a brand has',
    answer: 'There {found=is|are} {found:product}[: {products*{title} for {price}}].',
    said: ['brand'],
    wishes: ['find goods'],
  },
  show_product: {
    goal: 'look at a product',
    answer:
      '{title} by {brand} is rated {rating}[; it is on {final_sale} and cannot be sent back]. It comes as {variants*{name} for {price} ({stock} in stock)}.',
  },
  add_to_cart: {
    goal: 'put something in my cart',
    answer: 'Your cart has {quantity} of {name} now and comes to {cart_value}.',
    next: ['apply_coupon', 'add_delivery_address', 'redeem_gift_card', 'place_order'],
    checks: ['view_cart', 'list_shipping_options'],
    wishes: ['put into the cart'],
  },
  remove_from_cart: {
    goal: 'take something out of my cart',
    answer:
      'I took {name} out[ ({quantity:piece} {quantity=stays|stay} in the cart)]; the cart comes to {cart_value} now.',
    next: ['add_to_wishlist', 'place_order'],
    checks: ['view_cart'],
  },
  view_cart: {
    goal: 'check what is in my cart',
    answer:
      '{items#article} {items=is|are} in your cart[: {items*{name} ({quantity} at {price})}].[ The coupon {coupon} takes {discount} off.] The total is {total}.',
    wishes: ['see the cart'],
  },
  add_to_wishlist: {
    goal: 'put something on my wishlist',
    answer: '{name} is on your wishlist, which has {on_wishlist:entry} now.',
    checks: ['view_wishlist'],
    wishes: ['put into the cart'],
  },
  view_wishlist: {
    goal: 'look at my wishlist',
    answer: 'There {found=is|are} {found:thing} on your wishlist[: {items*{name} for {price} ({stock} in stock)}].',
  },
  find_coupons: {
    goal: 'find a coupon',
    answer:
      'You have {found:coupon} for {@category}[: {coupons*{name} with {percent} percent off from {minimum} on, until {expires}}].',
    said: ['category'],
    wishes: ['redeem a code'],
  },
  apply_coupon: {
    goal: 'use a coupon',
    answer: 'The {name} takes {discount} off; the total is {total}.',
    next: ['redeem_gift_card', 'add_delivery_address', 'place_order'],
    checks: ['list_shipping_options'],
    wishes: ['redeem a code'],
  },
  remove_coupon: {
    goal: 'take the coupon off my cart',
    answer: 'The coupon {removed} is off the cart again; the total is {total}.',
    next: ['apply_coupon', 'place_order'],
    checks: ['view_cart'],
  },
  list_delivery_addresses: {
    goal: 'check my delivery addresses',
    answer: 'You have {found:delivery address}[: {delivery_addresses*{name}, {address}}].',
    elsewhere: ['food_delivery:add_dropoff', 'maps:save_place', 'vehicle:save_destination'],
    wishes: ['list kept addresses'],
  },
  add_delivery_address: {
    goal: 'add a delivery address',
    answer: '{address} is saved as {name}.',
    next: ['place_order'],
    checks: ['list_shipping_options'],
    wishes: ['keep an address'],
  },
  list_shipping_options: {
    goal: 'check the shipping options for my cart',
    answer: 'Your cart can go to {name} by {options*{shipping} shipping for {cost}, arriving on {arrives}}.',
  },
  list_payment_methods: {
    goal: 'check how I can pay',
    answer:
      'You have these payment methods: {payment_methods*{name} ({status}, {available} available)}. You have {points:point} to spend[, and {pending_points:point} waiting for your orders to be delivered].',
  },
  redeem_gift_card: {
    goal: 'redeem a gift card',
    answer: 'The gift card added {added} to your {name}, which has {available} now.',
    next: ['place_order'],
    checks: ['view_cart'],
  },
  place_order: {
    goal: 'order what is in my cart',
    answer: 'Your order "{title}" is {status}: {total} in total, arriving on {arrives}.',
    checks: [],
    wishes: ['buy'],
  },
  list_orders: {
    goal: 'look through my orders',
    answer: 'You have {found:@status order}[: {orders*{title}, ordered on {placed}, for {total}}].',
    wishes: ['list what was bought'],
  },
  show_order: {
    goal: 'look at an order',
    answer:
      'Your order "{title}" is {status}; the day of delivery is {arrives}. It holds {items*{quantity} of {name}[ ({returned})]}.',
    wishes: ['follow an order'],
  },
  cancel_order: {
    goal: 'cancel an order',
    answer: 'Your order "{title}" is {status}; {refund} goes back to your {refunded_to}.',
    checks: [],
    wishes: ['undo an order'],
  },
  return_item: {
    goal: 'send something back',
    answer:
      'The return of {name} is registered: {refund} goes back to your {refunded_to}, and you have {points:point} left.',
    checks: [],
    wishes: ['undo an order'],
  },
  write_review: {
    goal: 'write a review',
    answer: 'Your review of {title} is published; its rating is {rating} now, from {reviews:review}.',
    checks: [],
    wishes: ['rate what was bought'],
  },
}
