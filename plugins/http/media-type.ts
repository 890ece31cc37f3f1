import { GuardError } from 'guard-gateway/core'
import { mediaType } from '#lib/http'

/** Whether a body claims to be JSON, or claims nothing. */
export const mayBeJson = (contentType: string | undefined): boolean => {
  if (contentType === undefined || contentType === 'application/json') return true
  const type = mediaType(contentType)
  return type === 'application/json' || type?.endsWith('+json') === true
}

/** Refuses a model request whose body does not claim to be JSON; no claim is fine. Throws UNSUPPORTED_MEDIA_TYPE. */
export const checkJsonType = (contentType: string | undefined): void => {
  if (!mayBeJson(contentType)) throw new GuardError('UNSUPPORTED_MEDIA_TYPE')
}
