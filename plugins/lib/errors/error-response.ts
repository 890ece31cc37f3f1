import { GuardError, isKnownCode } from 'guard-gateway/core'
import { isShape, readJson } from 'guard-gateway/lib/json'

/** The GuardError in a gateway's error response; INTERNAL for a body without one. */
export const errorFromResponse = (body: string): GuardError => {
  const { error } = shapeIn(body)
  const { code, message } = isShape(error) ? error : {}
  const known = isKnownCode(code) ? code : 'INTERNAL'
  return new GuardError(known, typeof message === 'string' ? message : undefined)
}

const shapeIn = (body: string): Readonly<Record<string, unknown>> => {
  try {
    const value = readJson(body)
    return isShape(value) ? value : {}
  } catch {
    return {}
  }
}
