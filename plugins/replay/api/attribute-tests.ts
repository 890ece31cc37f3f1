import { GuardError } from 'guard-gateway/core'
import { isJsonObject } from '#lib/json'
import { isNumeric, tokenOf } from '../write/attribute-index.ts'

const OPERATORS = ['=', '!=', '>=', '<=', '>', '<', '~'] as const
type Operator = (typeof OPERATORS)[number]

/** A test of one attribute, as a filter states it: `name`, `name=value`, `name>=5`, `name~part`. */
export interface AttributeTest {
  readonly name: string
  /** Absent: the attribute exists. */
  readonly operator?: Operator
  readonly value: string
}

const MAX_CHARS = 1_024
const EXPRESSION = /^([^=!<>~]+)(?:(!=|>=|<=|=|>|<|~)(.*))?$/s

/** Reads the text of a filter. Throws INVALID_FILTER. */
export const attributeTest = (text: string): AttributeTest => {
  const [, name = '', operator, value = ''] = EXPRESSION.exec(text) ?? []
  const trimmed = name.trim()
  if (trimmed === '' || text.length > MAX_CHARS)
    throw invalid(
      `a name, or a name, one of ${OPERATORS.join(' ')} and a value, such as http.response.status_code>=500`,
    )
  if (operator === undefined) return { name: trimmed, value: '' }
  if (/^[<>]/.test(operator) && !isNumeric(value)) throw invalid(`a number after ${operator}`)
  if (operator === '~' && value === '') throw invalid('a text after ~')
  return { name: trimmed, operator: operator as Operator, value }
}

const invalid = (expected: string): GuardError =>
  new GuardError('INVALID_FILTER', `"attribute" must be ${expected}.`, { path: '/attribute' })

/** The search token that a run with such an attribute has; undefined if none leads to it. */
export const tokenOfTest = ({ name, operator, value }: AttributeTest): string | undefined =>
  tokenOf(name, operator === '=' ? value : undefined)

/** True if a run that has the token may still fail the test, so that its records must be read. */
export const needsRecords = ({ name, operator, value }: AttributeTest): boolean => {
  const token = tokenOf(name, operator === '=' ? value : undefined)
  if (token === undefined) return true
  if (operator === undefined) return false
  return operator !== '=' || token === tokenOf(name)
}

/** True if a record has an attribute that meets the test: it, one of its elements, or a member under `name.member`. */
export const meets = (attributes: Readonly<Record<string, unknown>>, test: AttributeTest): boolean => {
  const value = valueAt(attributes, test.name)
  if (value === undefined || value === null) return false
  if (test.operator === undefined) return true
  return (Array.isArray(value) ? value : [value]).some((one) => compare(one, test))
}

/** The value of an attribute, or of the member of an object that its name leads to. */
export const valueAt = (attributes: Readonly<Record<string, unknown>>, name: string): unknown => {
  if (Object.hasOwn(attributes, name)) return attributes[name]
  for (let dot = name.indexOf('.'); dot > 0; dot = name.indexOf('.', dot + 1)) {
    const inner = Object.hasOwn(attributes, name.slice(0, dot)) ? attributes[name.slice(0, dot)] : undefined
    const value = isJsonObject(inner) && !Array.isArray(inner) ? valueAt(inner, name.slice(dot + 1)) : undefined
    if (value !== undefined) return value
  }
  return undefined
}

const compare = (value: unknown, { operator = '=', value: expected }: AttributeTest): boolean =>
  typeof value !== 'object' && comparisons[operator](String(value), expected)

const isEqual = (text: string, expected: string): boolean =>
  text === expected || (isNumeric(text) && isNumeric(expected) && Number(text) === Number(expected))

const byNumber =
  (compare: (value: number, limit: number) => boolean) =>
  (text: string, limit: string): boolean =>
    isNumeric(text) && compare(Number(text), Number(limit))

const comparisons: Readonly<Record<Operator, (text: string, expected: string) => boolean>> = {
  '=': isEqual,
  '!=': (text, expected) => !isEqual(text, expected),
  '~': (text, part) => text.toLowerCase().includes(part.toLowerCase()),
  '>': byNumber((value, limit) => value > limit),
  '>=': byNumber((value, limit) => value >= limit),
  '<': byNumber((value, limit) => value < limit),
  '<=': byNumber((value, limit) => value <= limit),
}
