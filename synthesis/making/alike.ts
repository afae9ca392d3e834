import type { ServerDefinition } from '../../servers/kernel/index.js'
import { type Node, nodeName } from '../../servers/kernel/tool-graph.js'

/**
 * Tools of one or more worlds that serve the same wish where nobody says in which world: an address to which things are delivered, somebody's name, a
 * place on the way. Who is told that one of them is not there would ask why not the other.
 */
export const FOR_ONE_WISH: readonly (readonly string[])[] = [
  [
    'shopping:search_products',
    'shopping:browse_products',
    'marketplace:search_listings',
    'retail_chain:search_articles',
    'retail_chain:check_stock',
  ],
  ['shopping:add_delivery_address', 'food_delivery:add_dropoff', 'maps:save_place', 'vehicle:save_destination'],
  ['shopping:list_delivery_addresses', 'food_delivery:list_dropoffs', 'maps:list_saved_places'],
  ['shopping:view_cart', 'food_delivery:show_basket'],
  ['shopping:add_to_cart', 'shopping:add_to_wishlist', 'food_delivery:add_dish_to_basket'],
  ['shopping:find_coupons', 'shopping:apply_coupon', 'food_delivery:apply_promo'],
  ['shopping:place_order', 'food_delivery:place_food_order', 'marketplace:buy_listing'],
  ['shopping:list_orders', 'food_delivery:list_food_orders', 'marketplace:list_market_activity'],
  ['shopping:show_order', 'food_delivery:track_food_order'],
  ['shopping:cancel_order', 'shopping:return_item', 'food_delivery:cancel_food_order'],
  ['shopping:write_review', 'food_delivery:rate_food_order', 'marketplace:rate_sale'],
  [
    'calendar:find_person',
    'team_chat:find_teammate',
    'email:find_contact',
    'crm:find_crm_contacts',
    'crm:find_leads',
    'social_media:find_profile',
    'issue_tracker:list_project_members',
    'payments:find_customer',
    'travel_booking:find_traveller',
    'banking:find_payee',
  ],
  ['calendar:create_event', 'calendar:set_reminder', 'video_meeting:schedule_meeting', 'crm:plan_activity'],
  ['calendar:find_events', 'calendar:list_events', 'video_meeting:find_meetings', 'crm:list_activities'],
  ['calendar:invite_attendee', 'video_meeting:invite_participant', 'team_chat:invite_to_channel'],
  ['calendar:cancel_event', 'video_meeting:end_meeting'],
  ['email:search_emails', 'team_chat:search_chat_messages', 'filesystem:search_text'],
  ['email:write_draft', 'team_chat:post_chat_message', 'social_media:send_direct_message'],
  ['banking:search_transactions', 'budget:search_expenses', 'payments:search_invoices', 'trading:list_trades'],
  ['banking:send_payment', 'banking:transfer_money', 'budget:pay_recurring_expense'],
  ['banking:get_balance', 'banking:list_accounts', 'trading:check_buying_power', 'budget:list_categories'],
  [
    'maps:search_places',
    'maps:nearest_places',
    'maps:find_reachable_places',
    'food_delivery:find_restaurants',
    'vehicle:find_destination',
    'retail_chain:find_stores',
    'travel_booking:search_hotels',
  ],
  [
    'maps:plan_route',
    'maps:plan_route_with_stop',
    'vehicle:start_navigation',
    'maps:get_travel_time',
    'maps:measure_distance',
  ],
  ['maps:get_place', 'food_delivery:show_menu', 'retail_chain:show_store'],
  ['crm:find_companies', 'payments:find_customer', 'trading:search_instruments'],
  ['issue_tracker:find_issues', 'issue_tracker:list_releases', 'issue_tracker:list_sprints'],
  ['iot_devices:set_thermostat', 'vehicle:set_cabin_climate'],
  ['iot_devices:lock_door', 'iot_devices:unlock_door', 'vehicle:operate_door'],
  ['iot_devices:play_on_speaker', 'vehicle:play_playlist'],
]

/** Tools that might pass for one of those in the chain: they serve the same wish, or two words of their names agree. */
export function alike(chain: readonly Node[], servers: readonly ServerDefinition[]): string[] {
  const wanted = chain.map((node) => ({ name: nodeName(node), words: new Set(wordsOf(node.tool.name)) }))
  return servers
    .flatMap((server) => server.tools.map((tool) => ({ server, tool })))
    .filter((node) => {
      const name = nodeName(node)
      const words = wordsOf(node.tool.name)
      return wanted.some(
        (one) =>
          words.filter((word) => one.words.has(word)).length >= 2 ||
          FOR_ONE_WISH.some((names) => names.includes(one.name) && names.includes(name)),
      )
    })
    .map(nodeName)
}

const wordsOf = (name: string): string[] => name.split('_').map((word) => word.replace(/s$/, ''))
