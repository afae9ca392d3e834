/** What the map keeps for its user: name, value. */
export const LIMITS = {
  savedPlaces: 8,
  /** Closed roads per city. Fewer than there are streets in either direction, so that cars always find a way. */
  closedRoads: 3,
} as const
