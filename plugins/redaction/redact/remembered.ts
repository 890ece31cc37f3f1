/** So many texts are held in each of two generations. */
const GENERATION = 2_048

/** A bounded memory of texts: when a generation is full, the one before it is forgotten. */
export interface Remembered {
  has(text: string): boolean
  add(text: string): void
}

/** A memory of texts of at most `maxLength` UTF-16 units; longer ones are not taken up. */
export const remembered = (maxLength: number): Remembered => {
  let young = new Set<string>()
  let old = new Set<string>()
  return {
    has: (text) => text.length <= maxLength && (young.has(text) || old.has(text)),
    add(text) {
      if (text.length > maxLength) return
      if (young.size >= GENERATION) {
        old = young
        young = new Set()
      }
      young.add(text)
    },
  }
}
