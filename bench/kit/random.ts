const words =
  'return const value error request result function module import export buffer stream record session policy window budget token reply retry header cursor table column index branch commit merge review deploy queue worker cache socket client server parse check write read'.split(
    ' ',
  )

/** A seeded generator of numbers from 0 to below 1. Equal seeds give equal numbers. */
export const random = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Text of about `length` characters that resembles source code: words, lines, quotes and punctuation. */
export const prose = (next: () => number, length: number): string => {
  let text = ''
  while (text.length < length) {
    const pick = next()
    const word = words[Math.floor(next() * words.length)] ?? ''
    text += pick < 0.1 ? `${word};\n  ` : pick < 0.14 ? `"${word}" ` : pick < 0.16 ? `${word} — ` : `${word} `
  }
  return text.slice(0, length)
}
