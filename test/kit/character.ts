import fc from 'fast-check'

const SURROGATES = { first: 0xd800, count: 0x800 }

/**
 * Any code point but a lone surrogate, as a string: what the unit `binary` gives.
 * That one makes a table of all of them, which takes a process a second and 100 MB.
 */
export const character: fc.Arbitrary<string> = fc.integer({ min: 0, max: 0x10ffff - SURROGATES.count }).map(
  (place) => String.fromCodePoint(place < SURROGATES.first ? place : place + SURROGATES.count),
  (value) => {
    const point = typeof value === 'string' ? value.codePointAt(0) : undefined
    if (point === undefined || value !== String.fromCodePoint(point) || !String(value).isWellFormed())
      throw new TypeError('not one character')
    return point < SURROGATES.first ? point : point - SURROGATES.count
  },
)
