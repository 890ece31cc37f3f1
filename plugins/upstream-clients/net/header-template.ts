import { byHeaderName, isCredentialName } from 'guard-gateway/lib/http'
import { BAD_VALUE, CONNECTION, CONTENT_LENGTH, headerKind, INVALID, TRANSFER_ENCODING } from './header-kinds.ts'

/** True for a header whose value is filled in per request: the length differs, and a credential is not kept. */
const isVariable = byHeaderName((lower) => lower === 'content-length' || isCredentialName(lower))

/** The header lines of a request, reused for requests that differ only in variable values. */
export class HeaderTemplate {
  /** Undefined where a value is variable. */
  readonly #headers: (string | undefined)[] = []
  /** The text before each variable value, and the text after the last. */
  readonly #texts: string[]
  /** Indexes of variable values among the headers. */
  readonly #positions: number[] = []
  #lengthIndex = -1
  /** The request itself asks for the connection to be closed. */
  closes = false
  hasConnection = false

  /** Throws TypeError for a header that cannot be sent. */
  constructor(headers: readonly string[]) {
    const texts: string[] = []
    let text = ''
    for (let index = 0; index + 1 < headers.length; index += 2) {
      const name = headers[index] ?? ''
      const value = headers[index + 1] ?? ''
      this.#note(name, value, index + 1)
      if (isVariable(name)) {
        texts.push(`${text}${name}: `)
        text = '\r\n'
        this.#positions.push(index + 1)
        this.#headers.push(name, undefined)
      } else {
        text += `${name}: ${value}\r\n`
        this.#headers.push(name, value)
      }
    }
    this.#texts = [...texts, text].map(flat)
  }

  /** Whether these headers differ in variable values alone. */
  matches(headers: readonly string[]): boolean {
    const own = this.#headers
    if (headers.length !== own.length) return false
    for (let index = 0; index < own.length; index++)
      if (headers[index] !== own[index] && own[index] !== undefined) return false
    return true
  }

  /** The lines of headers that match. Throws TypeError for a value that cannot be sent. */
  render(headers: readonly string[]): string {
    let text = this.#texts[0] ?? ''
    for (let index = 0; index < this.#positions.length; index++) {
      const value = headers[this.#positions[index] ?? 0] ?? ''
      if (BAD_VALUE.test(value)) throw new TypeError('a header cannot be sent')
      text += value + this.#texts[index + 1]
    }
    return text
  }

  /** The `content-length` of headers that match. */
  contentLength(headers: readonly string[]): string | undefined {
    return headers[this.#lengthIndex]
  }

  #note(name: string, value: string, at: number): void {
    const kind = headerKind(name)
    if (kind === INVALID || kind === TRANSFER_ENCODING || BAD_VALUE.test(value))
      throw new TypeError('a header cannot be sent')
    if (kind === CONTENT_LENGTH) this.#lengthIndex = at
    if (kind !== CONNECTION) return
    this.hasConnection = true
    this.closes = /\bclose\b/i.test(value)
  }
}

/** The same text as a flat string: V8 would walk a concatenated one each time that it is written. */
const flat = (text: string): string => Buffer.from(text, 'latin1').toString('latin1')
