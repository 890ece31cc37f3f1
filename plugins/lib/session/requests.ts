import type { Row } from 'guard-gateway/core'

/** How many requests of its session a call or its record is: a warm-up and a retrieval are none. One that was not run is, since that is known only later. */
export const requestsIn = ({ uncounted }: { readonly uncounted?: Row['uncounted'] | string }): number =>
  uncounted === 'warmup' || uncounted === 'retrieval' ? 0 : 1
