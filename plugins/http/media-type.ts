import { GuardError } from 'guard-gateway/core'

const MEDIA_TYPE = /^\s*([!#$%&'*+.^_`|~0-9a-z-]+\/[!#$%&'*+.^_`|~0-9a-z-]+)\s*(?:;(.*))?$/i
const CHARSET = /(?:^|;)\s*charset\s*=\s*"?([^";\s]*)"?/i

/** The essence of a content type in lower case, without parameters; undefined if it is malformed or of another charset than UTF-8. */
export const mediaType = (contentType: string): string | undefined => {
  const [, type, parameters = ''] = MEDIA_TYPE.exec(contentType) ?? []
  const charset = CHARSET.exec(parameters)?.[1]?.toLowerCase()
  return charset === undefined || charset === 'utf-8' || charset === 'utf8' ? type?.toLowerCase() : undefined
}

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
