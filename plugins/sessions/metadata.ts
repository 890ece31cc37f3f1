import { GuardError } from 'guard-gateway/core'
import { inexactNumber, writeJson } from '#lib/json'

const MAX_METADATA_BYTES = 65_536
const MAX_METADATA_DEPTH = 8

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
