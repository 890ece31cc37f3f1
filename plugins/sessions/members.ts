import { GuardError, inexactNumber, writeJson } from 'guard-gateway/core'

const MAX_METADATA_BYTES = 65_536
const MAX_METADATA_DEPTH = 8

/** Refuses a query parameter that means nothing: ignoring it would answer another question. */
export const knownFilters = (query: object, { properties }: { readonly properties: object }): void => {
  const known = Object.keys(properties)
  const odd = Object.keys(query).find((name) => !known.includes(name))
  if (odd === undefined) return
  throw new GuardError('UNKNOWN_FILTER', `There is no filter "${odd}"; there is ${known.join(', ')}.`, { known })
}

/** Refuses a body member that means nothing: ignoring it would promise what does not happen. */
export const knownMembers = (body: object, known: readonly string[]): void => {
  const odd = Object.keys(body).find((name) => !known.includes(name))
  if (odd === undefined) return
  const path = `/${odd.replaceAll('~', '~0').replaceAll('/', '~1')}`
  throw new GuardError('INVALID_REQUEST', `"${odd}" cannot be set here; only ${known.join(', ')} can.`, { path, known })
}

/** Metadata within its limits, as given. Throws INVALID_REQUEST. */
export const boundedMetadata = (metadata: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  if (depthOver(metadata, MAX_METADATA_DEPTH)) {
    throw new GuardError('INVALID_REQUEST', `"metadata" nests deeper than ${MAX_METADATA_DEPTH} levels.`, {
      path: '/metadata',
    })
  }
  const inexact = inexactNumber(metadata)
  if (inexact !== undefined) {
    const message = `"metadata" holds a number at ${inexact} that cannot be kept exactly. Send it as text.`
    throw new GuardError('INVALID_REQUEST', message, { path: `/metadata${inexact}` })
  }
  const bytes = Buffer.byteLength(writeJson(metadata))
  if (bytes <= MAX_METADATA_BYTES) return metadata
  const message = `"metadata" has ${bytes} bytes as JSON; ${MAX_METADATA_BYTES} are allowed.`
  throw new GuardError('INVALID_REQUEST', message, { path: '/metadata' })
}

/** Whether objects and arrays nest deeper than `limit`, the outermost counted. */
const depthOver = (value: unknown, limit: number): boolean => {
  if (typeof value !== 'object' || value === null) return false
  return limit === 0 || Object.values(value).some((part) => depthOver(part, limit - 1))
}
