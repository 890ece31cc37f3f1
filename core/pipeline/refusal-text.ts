import type { ApiStyle } from '../contracts/api-style.ts'
import type { ErrorBody } from '../errors.ts'

/** One of our own errors as JSON in a dialect, for this HTTP status. If the style throws, `fault` reports it and the error has our own form. */
export const refusalText = (
  style: ApiStyle,
  body: ErrorBody,
  requestId: string,
  status: number,
  fault: (error: unknown, where: string) => void,
): string => {
  try {
    const text = JSON.stringify(style.refusal(body, requestId, status))
    if (text !== undefined) return text
    throw new TypeError(`a refusal is an object; that of style "${style.id}" has no JSON form`)
  } catch (error) {
    fault(error, `refusal:${style.id}`)
    return JSON.stringify({ error: body })
  }
}
