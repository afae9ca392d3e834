import { ref } from '../kernel/fields.js'

/** Fields that several tools take. Their users speak of stocks and orders; who calls the tools knows the keys by what the tools are named after. */
export const instrumentKey = ref('instrument', 'Key of the instrument, from search_instruments or get_quote.')
export const tradeOrderKey = ref('trade_order', 'Key of the trade order, from list_trade_orders or place_trade_order.')
