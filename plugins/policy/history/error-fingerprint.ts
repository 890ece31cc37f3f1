import { sha256 } from '#lib/ids'

const TEXT_LIMIT = 4096
const MAX_CHARS = 500

const uuids = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi
const prefixed = /\b[a-z]{2,16}[_-][0-9a-z_-]{6,128}/gi
const hexRuns = /\b(?:0x)?[0-9a-f]{8,128}\b/gi
const numbers = /\d{1,64}(?:[.,]\d{1,64}){0,8}/g

const ifNumbered = (text: string): string => (/\d/.test(text) ? '#' : text)

/** An error message with ids, hex runs and numbers replaced by `#`; at most 500 characters. */
export const maskedMessage = (message: string): string =>
  message
    .slice(0, TEXT_LIMIT)
    .replace(uuids, '#')
    .replace(prefixed, ifNumbered)
    .replace(hexRuns, ifNumbered)
    .replace(numbers, '#')
    .replace(/\s{1,64}/g, ' ')
    .trim()
    .slice(0, MAX_CHARS)

/** The error of a provider's reply. */
export interface UpstreamError {
  readonly type: string | null
  readonly code: string | null
  readonly message: string
}

/** SHA-256 of status, type (else code) and masked message: equal fingerprints are the same error. */
export const errorFingerprint = (status: number, error: UpstreamError | null): string =>
  sha256(`${status}\0${error?.type ?? error?.code ?? ''}\0${maskedMessage(error?.message ?? '')}`)
