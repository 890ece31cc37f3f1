import type { Frame } from 'guard-gateway/core'
import { applyEdits, setMember } from 'guard-gateway/lib/json'

/**
 * The text of an error that names no request, or comes for a message that was none; undefined for anything else.
 * With a status below 300 it answers what was `asked`, whose sender would not find it without the id.
 */
export const unmatchedError = (
  came: Frame | undefined,
  asked: Frame | undefined,
  status: number,
): Buffer | string | undefined => {
  if (came?.error === undefined || (came.key !== undefined && asked !== undefined)) return undefined
  if (asked?.id === undefined || status >= 300) return came.raw
  return applyEdits(came.text, [setMember(came.root, 'id', asked.id)])
}
