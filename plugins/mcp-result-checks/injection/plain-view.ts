/** A text as it is meant to be read: small letters, plain forms, no invisible characters, and single line breaks as blanks. */
export interface PlainView {
  readonly text: string
  /** Where the character at an index begins in the original. */
  place(index: number): number
}

const NOT_ASCII = /[^\0-\x7f]/
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u
/** A line break that does not end a paragraph or an item. */
const SOFT_BREAK = /(?<=[^\n])\r?\n(?![\n\r*\-#>|\d])/g

export const plainView = (original: string): PlainView => {
  const text = original.replace(SOFT_BREAK, (found) => ' '.repeat(found.length))
  return NOT_ASCII.test(text) ? mapped(text) : { text: text.toLowerCase(), place: (index) => index }
}

const mapped = (original: string): PlainView => {
  const places: number[] = []
  let text = ''
  let at = 0
  for (const character of original) {
    const plain = plainCharacter(character)
    for (let part = 0; part < plain.length; part++) places.push(at)
    text += plain
    at += character.length
  }
  return { text, place: (index) => places[index] ?? original.length }
}

const plainCharacter = (character: string): string => {
  if (character <= '\x7f') return character.toLowerCase()
  return INVISIBLE.test(character) ? '' : character.normalize('NFKC').toLowerCase()
}
