import { readFileSync } from 'node:fs'

const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const DIGITS = '0123456789'
const ALNUM = LOWER.toUpperCase() + LOWER + DIGITS

const ALPHABETS: Readonly<Record<string, string>> = {
  digit: DIGITS,
  hex: `${DIGITS}abcdef`,
  hexh: `${DIGITS}abcdefgh`,
  letter: LOWER.toUpperCase() + LOWER,
  lower: LOWER + DIGITS,
  upper: LOWER.toUpperCase() + DIGITS,
  base32: `${LOWER.toUpperCase()}234567`,
  bech32: 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L',
  alnum: ALNUM,
  word: `${ALNUM}_`,
  url64: `${ALNUM}-_`,
  base64: `${ALNUM}+/`,
}

/** A source of numbers from 0 up to 1, the same for the same seed (mulberry32). */
export const numbers = (seed: number): (() => number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export type Random = () => number

/** `length` characters of one of the alphabets. */
export const characters = (random: Random, alphabet: string, length: number): string => {
  const from = ALPHABETS[alphabet]
  if (from === undefined) throw new Error(`no alphabet is called ${alphabet}`)
  return Array.from({ length }, () => from.charAt(Math.floor(random() * from.length))).join('')
}

export const uuid = (random: Random): string =>
  [8, 4, 4, 4, 12].map((length) => characters(random, 'hex', length)).join('-')

const jwt = (random: Random): string => {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = { sub: characters(random, 'digit', 10), iat: 1_782_000_000 }
  return [part({ alg: 'HS256', typ: 'JWT' }), part(claims), characters(random, 'url64', 43)].join('.')
}

const FILL = /\{(\w+)(?::(\d+)(?:-(\d+))?)?\}/g

/** A form with its alphabets filled in. */
const fill = (form: string, random: Random): string =>
  form.replace(FILL, (_all, name: string, min = '1', max = min) => {
    if (name === 'uuid') return uuid(random)
    if (name === 'jwt64') return Buffer.from(jwt(random)).toString('base64')
    if (name === 'line') return '\n'
    if (name === 'blank') return ' '
    return characters(random, name, Number(min) + Math.floor(random() * (Number(max) - Number(min) + 1)))
  })

/** One row of the table. */
export interface SecretShape {
  readonly source: string
  readonly id: string
  readonly kind: 'shape' | 'named' | 'shown'
  readonly form: string
}

/** The rows of `test/data/secret-shapes.tsv`. */
export const secretShapes = (): readonly SecretShape[] =>
  readFileSync(new URL('../../../data/secret-shapes.tsv', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [source = '', id = '', kind = '', form = ''] = line.split('\t')
      if (kind !== 'shape' && kind !== 'named' && kind !== 'shown') throw new Error(`what kind is "${kind}" of ${id}?`)
      return { source, id, kind, form }
    })

/** A text made of a form, and the part of it that must be hidden. */
export interface Generated {
  readonly text: string
  readonly secret: string
  /** The text is the secret and nothing else, on one line, so that it can stand anywhere. */
  readonly whole: boolean
}

export const generate = ({ form }: SecretShape, random: Random): Generated => {
  const filled = fill(form, random)
  const secret = /<<(.*)>>/s.exec(filled)?.[1]
  const text = secret === undefined ? filled : filled.replace('<<', '').replace('>>', '')
  return { text, secret: secret ?? filled, whole: secret === undefined && !filled.includes('\n') }
}
