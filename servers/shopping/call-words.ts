import type { CallWords } from '../kernel/define-server.js'

/** By tool: what people are after who call it, and what they are told when it is done. */
export const callWords: Readonly<Record<string, CallWords>> = {
  list_brands: {
    goal: 'see which brands there are',
    answer: 'There {found=is|are} {found:@category brand}[: {brands*{name} with {products:product}}].',
  },
  search_products: {
    goal: 'find a product in the shop',
    answer: 'I found {found:product}[: {products*{title} by {brand} for {price}}].',
  },
  browse_products: {
    goal: 'see what a brand has',
    answer: 'There {found=is|are} {found:product}[: {products*{title} for {price}}].',
  },
  show_product: {
    goal: 'look at a product',
    answer:
      '{title} is rated {rating}[ and is {final_sale}] and comes as {variants*{name} for {price} ({stock} in stock)}.',
  },
  add_to_cart: {
    goal: 'put something in my cart',
    answer: '{name} is in your cart, {quantity} of it; the cart comes to {cart_value}.',
    next: ['apply_coupon', 'place_order'],
  },
  remove_from_cart: {
    goal: 'take something out of my cart',
    answer: '{name} is taken out[, {quantity:piece} {quantity=stays|stay}]; the cart comes to {cart_value}.',
    next: ['add_to_wishlist', 'add_to_cart'],
  },
  view_cart: {
    goal: 'see what is in my cart',
    answer:
      '{items#article} {items=is|are} in your cart[: {items*{quantity} of {name} at {price}}].[ The coupon {coupon} takes {discount} off.] The total is {total}.',
  },
  add_to_wishlist: {
    goal: 'put something on my wishlist',
    answer: '{name} is on your wishlist, which has {on_wishlist:entry} now.',
  },
  view_wishlist: {
    goal: 'look at my wishlist',
    answer: 'There {found=is|are} {found:thing} on your wishlist[: {items*{name} for {price} ({stock} in stock)}].',
  },
  find_coupons: {
    goal: 'find a coupon',
    answer: 'I found {found:coupon}[: {coupons*{name}, {percent} percent off from {minimum}, until {expires}}].',
  },
  apply_coupon: {
    goal: 'use a coupon',
    answer: 'The coupon {name} takes {discount} off; the total is {total}.',
    next: ['place_order', 'remove_coupon'],
  },
  remove_coupon: {
    goal: 'take the coupon off my cart',
    answer: 'The coupon {removed} is off the cart again; the total is {total}.',
    next: ['place_order'],
  },
  list_delivery_addresses: {
    goal: 'see my delivery addresses',
    answer: 'You have {found:delivery address}[: {delivery_addresses*{name}, {address}}].',
    elsewhere: ['food_delivery:add_dropoff', 'maps:save_place', 'vehicle:save_destination'],
  },
  add_delivery_address: {
    goal: 'add a delivery address',
    answer: '{address} is saved as {name}.',
    next: ['place_order'],
  },
  list_shipping_options: {
    goal: 'see how my cart can be sent',
    answer: 'It can be sent {options*{shipping} for {cost}, arriving {arrives}}.',
  },
  list_payment_methods: {
    goal: 'see how I can pay',
    answer:
      'You have {payment_methods#payment method}: {payment_methods*{name} with {available} available ({status})}. You also have {points:point}.',
  },
  redeem_gift_card: {
    goal: 'redeem a gift card',
    answer: 'The gift card added {added} to {name}, which has {available} now.',
    next: ['place_order'],
  },
  place_order: {
    goal: 'order what is in my cart',
    answer: 'The order "{title}" is {status}: {total} in total, arriving {arrives}.',
  },
  list_orders: {
    goal: 'see my orders',
    answer: 'You have {found:@status order}[: {orders*{title} of {placed} for {total}}].',
  },
  show_order: {
    goal: 'look at an order',
    answer: '{title} is {status}, with delivery on {arrives}. It holds {items*{quantity} of {name}[, {returned}]}.',
  },
  cancel_order: { goal: 'cancel an order', answer: '{title} is {status}; {refund} goes back to your {refunded_to}.' },
  return_item: {
    goal: 'send something back',
    answer: '{name} can go back: {refund} goes to your {refunded_to}, and you have {points:point}.',
  },
  write_review: {
    goal: 'review something that I bought',
    answer: 'Your review of {title} is there; it is rated {rating} in {reviews:review}.',
  },
}
