import { GuardError } from '../errors.ts'
import { pointerPart } from '../json/pointer.ts'

interface ObjectSchema {
  readonly properties: object
}

/** Refuses a query parameter that means nothing: ignoring it would answer another question. Throws UNKNOWN_FILTER. */
export const knownFilters = (query: object, { properties }: ObjectSchema): void => {
  const known = Object.keys(properties)
  const odd = Object.keys(query).find((name) => !known.includes(name))
  if (odd === undefined) return
  throw new GuardError('UNKNOWN_FILTER', `There is no filter "${odd}"; there is ${known.join(', ')}.`, { known })
}

/** Refuses a body member that means nothing: ignoring it would promise what does not happen. Throws INVALID_REQUEST. */
export const knownMembers = (body: object, { properties }: ObjectSchema): void => {
  const known = Object.keys(properties)
  const odd = Object.keys(body).find((name) => !known.includes(name))
  if (odd === undefined) return
  const path = `/${pointerPart(odd)}`
  throw new GuardError('INVALID_REQUEST', `"${odd}" cannot be set here; only ${known.join(', ')} can.`, { path, known })
}
