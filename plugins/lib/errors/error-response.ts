import { GuardError } from 'guard-gateway/core'
import { isJsonObject, readJson } from 'guard-gateway/lib/json'

/** The GuardError in a gateway's error response; INTERNAL for a body without one. */
export const errorFromResponse = (body: string): GuardError => {
  const { error } = shapeIn(body)
  const { code, type, message, known } = isJsonObject(error) ? error : {}
  const text = typeof message === 'string' ? message : undefined
  if (typeof code !== 'string') return new GuardError('INTERNAL', text)
  const unknown = {
    id: code,
    status: 500,
    type: typeof type === 'string' ? type : 'api_error',
    message: code,
    help: '',
  }
  const names = Array.isArray(known) ? known.filter((name) => typeof name === 'string') : undefined
  return new GuardError(unknown, text, names === undefined ? {} : { known: names })
}

const shapeIn = (body: string): Readonly<Record<string, unknown>> => {
  try {
    const value = readJson(body)
    return isJsonObject(value) ? value : {}
  } catch {
    return {}
  }
}
