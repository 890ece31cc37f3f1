import { GuardError } from 'guard-gateway/core'

interface ObjectSchema {
  readonly properties: object
}

/** Refuses an unknown query parameter: ignoring it would answer another question. Throws UNKNOWN_FILTER. */
export const rejectUnknownFilters = (query: object, { properties }: ObjectSchema): void => {
  const known = Object.keys(properties)
  const odd = Object.keys(query).find((name) => !known.includes(name))
  if (odd === undefined) return
  throw new GuardError('UNKNOWN_FILTER', `There is no filter "${odd}"; there is ${known.join(', ')}.`, { known })
}
