import { byHeaderName, isCredentialName } from 'guard-gateway/lib/http'
import { BAD_VALUE, CONNECTION, CONTENT_LENGTH, INVALID, meaningOf, TRANSFER_ENCODING } from './names.ts'

/** Its value is put in anew for each request: the length differs, and what opens a door is not kept. */
const isPutIn = byHeaderName((lower) => lower === 'content-length' || isCredentialName(lower))

/** The header lines of a request, kept for requests that differ only in what is put in. */
export class HeaderLines {
  /** Undefined where a value is put in. */
  readonly #headers: (string | undefined)[] = []
  /** The text up to each value that is put in, and what comes behind the last. */
  readonly #texts: string[]
  /** Where values that are put in stand among the headers. */
  readonly #places: number[] = []
  #lengthAt = -1
  /** The request itself asks for the connection to be closed. */
  closes = false
  saysConnection = false

  /** Throws TypeError for a header that cannot be sent. */
  constructor(headers: readonly string[]) {
    const texts: string[] = []
    let text = ''
    for (let index = 0; index + 1 < headers.length; index += 2) {
      const name = headers[index] ?? ''
      const value = headers[index + 1] ?? ''
      this.#note(name, value, index + 1)
      if (isPutIn(name)) {
        texts.push(`${text}${name}: `)
        text = '\r\n'
        this.#places.push(index + 1)
        this.#headers.push(name, undefined)
      } else {
        text += `${name}: ${value}\r\n`
        this.#headers.push(name, value)
      }
    }
    this.#texts = [...texts, text].map(flat)
  }

  /** Whether these headers are the same but for what is put in. */
  fit(headers: readonly string[]): boolean {
    const own = this.#headers
    if (headers.length !== own.length) return false
    for (let index = 0; index < own.length; index++)
      if (headers[index] !== own[index] && own[index] !== undefined) return false
    return true
  }

  /** The lines of headers that fit. Throws TypeError for a value that cannot be sent. */
  text(headers: readonly string[]): string {
    let text = this.#texts[0] ?? ''
    for (let index = 0; index < this.#places.length; index++) {
      const value = headers[this.#places[index] ?? 0] ?? ''
      if (BAD_VALUE.test(value)) throw new TypeError('a header cannot be sent')
      text += value + this.#texts[index + 1]
    }
    return text
  }

  /** What headers that fit say of the length of the body. */
  length(headers: readonly string[]): string | undefined {
    return headers[this.#lengthAt]
  }

  #note(name: string, value: string, at: number): void {
    const meaning = meaningOf(name)
    if (meaning === INVALID || meaning === TRANSFER_ENCODING || BAD_VALUE.test(value))
      throw new TypeError('a header cannot be sent')
    if (meaning === CONTENT_LENGTH) this.#lengthAt = at
    if (meaning !== CONNECTION) return
    this.saysConnection = true
    this.closes = /\bclose\b/i.test(value)
  }
}

/** The same text in one piece: as it was put together it would be walked through each time that it is written. */
const flat = (text: string): string => Buffer.from(text, 'latin1').toString('latin1')
