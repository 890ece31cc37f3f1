const MEDIA_TYPE = /^\s*([!#$%&'*+.^_`|~0-9a-z-]+\/[!#$%&'*+.^_`|~0-9a-z-]+)\s*(?:;(.*))?$/i
const CHARSET = /(?:^|;)\s*charset\s*=\s*"?([^";\s]*)"?/i

/** The essence of a content type in lower case, without parameters; undefined if it is malformed or of another charset than UTF-8. */
export const mediaType = (contentType: string): string | undefined => {
  const [, type, parameters = ''] = MEDIA_TYPE.exec(contentType) ?? []
  const charset = CHARSET.exec(parameters)?.[1]?.toLowerCase()
  return charset === undefined || charset === 'utf-8' || charset === 'utf8' ? type?.toLowerCase() : undefined
}
