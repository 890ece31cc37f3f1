import { GuardError } from 'guard-gateway/core'
import { pointerPart } from 'guard-gateway/lib/json'

/** What a validator of JSON Schema finds wrong in one place, as a verbose Ajv says it. */
interface Fault {
  readonly keyword: string
  readonly instancePath: string
  readonly message?: string
  readonly params: object
  readonly parentSchema?: object
}

/**
 * INVALID_REQUEST for a part of a request, its `body` or `querystring`, that its schema refuses.
 * For a union it reports the branch that matched furthest into the value: that one was probably meant.
 */
export const schemaError = (faults: readonly Fault[], context: string): GuardError => {
  const path = faults.map(pointerOf).reduce((deepest, one) => (one.length > deepest.length ? one : deepest), '')
  const there = faults.filter((fault) => pointerOf(fault) === path && fault.keyword !== 'anyOf')
  const unknown = there.find(({ keyword }) => keyword === 'additionalProperties')
  if (unknown !== undefined) return unknownMember(unknown, path)
  const where = context === 'querystring' ? 'query' : context
  const texts = [...new Set(there.map(textOf))]
  const text = texts.map((one, index) => (index === 0 ? one : one.replace(/^must be /, ''))).join(' or ')
  return new GuardError(
    'INVALID_REQUEST',
    `The ${where}${path === '' ? '' : ` at ${path}`} ${text === '' ? 'cannot be used' : text}.`,
    { path },
  )
}

interface Params {
  readonly additionalProperty?: string
  readonly allowedValues?: readonly unknown[]
  readonly allowedValue?: unknown
}

const pointerOf = ({ instancePath, params }: Fault): string => {
  const { additionalProperty }: Params = params
  return additionalProperty === undefined ? instancePath : `${instancePath}/${pointerPart(additionalProperty)}`
}

/** A member that means nothing: ignoring it would promise what does not happen. */
const unknownMember = ({ params, parentSchema = {} }: Fault, path: string): GuardError => {
  const { additionalProperty = '' }: Params = params
  const { properties = {} }: { readonly properties?: object } = parentSchema
  const known = Object.keys(properties)
  const odd = additionalProperty.slice(0, 64)
  return new GuardError('INVALID_REQUEST', `"${odd}" cannot be set here; only ${known.join(', ')} can.`, {
    path,
    known,
  })
}

const textOf = ({ message = 'cannot be used', params: given }: Fault): string => {
  const params: Params = given
  if (params.allowedValue !== undefined) return `must be ${JSON.stringify(params.allowedValue)}`
  return params.allowedValues === undefined ? message : `${message}: ${params.allowedValues.join(', ')}`
}
