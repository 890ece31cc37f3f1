import { parseJson, type Reviver } from './parse.ts'
import { MAX_DIGITS } from './strict-faults.ts'

/** A number of 16 digits or more where a value may be: only such text can hold an integer that a double cannot. */
const LONG_NUMBER = /(?:^|[:,[\s])-?\d{16}/

const exact: Reviver = (_key, value, { source }) =>
  typeof value === 'number' && !Number.isSafeInteger(value) && source !== undefined && /^-?\d+$/.test(source)
    ? BigInt(source)
    : value

/** An integer of more digits than are taken, as it is written. */
export class LongInteger extends Error {}

const bounded: Reviver = (key, value, context) => {
  const { source = '' } = context
  if (typeof value === 'number' && source.length > MAX_DIGITS && /^-?\d+$/.test(source)) throw new LongInteger(source)
  return exact(key, value, context)
}

/** Parses JSON; an integer beyond 2^53 becomes a bigint with every digit. Throws SyntaxError. */
export const parseExact = (text: string): unknown => parseJson(text, LONG_NUMBER.test(text) ? exact : undefined)

/** The same for text from outside. Throws SyntaxError, and LongInteger for an integer of more than 1,000 digits. */
export const parseBounded = (text: string): unknown => parseJson(text, LONG_NUMBER.test(text) ? bounded : undefined)
