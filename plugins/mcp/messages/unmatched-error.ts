import { applyEdits, setMember } from 'guard-gateway/lib/json'
import type { Frame } from 'guard-gateway/lib/json-rpc'

/**
 * The text of an error that has no id, or that answers a message which was no request; undefined for anything else.
 * With a status below 300 the error gets the id of `request`, so that its sender can match it.
 */
export const unmatchedError = (
  received: Frame | undefined,
  request: Frame | undefined,
  status: number,
): Buffer | string | undefined => {
  if (received?.error === undefined || (received.key !== undefined && request !== undefined)) return undefined
  if (request?.id === undefined || status >= 300) return received.raw
  return applyEdits(received.text, [setMember(received.root, 'id', request.id)])
}
