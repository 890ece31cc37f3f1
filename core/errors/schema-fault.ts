import { GuardError } from '../errors.ts'

/** What a validator of JSON Schema finds wrong in one place, as Ajv says it. */
interface Fault {
  readonly keyword: string
  readonly instancePath: string
  readonly message?: string
  readonly params: object
}

/**
 * INVALID_REQUEST for a part of a request, its `body` or `querystring`, that its schema refuses.
 * Of the branches of a union it says what the one wants that got furthest into the value: that one was meant.
 */
export const schemaFault = (faults: readonly Fault[], context: string): GuardError => {
  const path = faults.reduce((deepest, { instancePath }) => {
    return instancePath.length > deepest.length ? instancePath : deepest
  }, '')
  const there = faults.filter((fault) => fault.instancePath === path && fault.keyword !== 'anyOf')
  const where = context === 'querystring' ? 'query' : context
  const texts = [...new Set(there.map(textOf))]
  const text = texts.map((one, index) => (index === 0 ? one : one.replace(/^must be /, ''))).join(' or ')
  return new GuardError(
    'INVALID_REQUEST',
    `The ${where}${path === '' ? '' : ` at ${path}`} ${text === '' ? 'cannot be used' : text}.`,
    { path: path === '' ? '/' : path },
  )
}

const textOf = ({ message = 'cannot be used', params: given }: Fault): string => {
  const params: { additionalProperty?: unknown; allowedValues?: readonly unknown[]; allowedValue?: unknown } = given
  if (params.allowedValue !== undefined) return `must be ${JSON.stringify(params.allowedValue)}`
  if (params.additionalProperty !== undefined) return `${message} ("${String(params.additionalProperty).slice(0, 64)}")`
  return params.allowedValues === undefined ? message : `${message}: ${params.allowedValues.join(', ')}`
}
