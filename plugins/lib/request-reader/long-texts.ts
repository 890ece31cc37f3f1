import type { ApiStyle } from 'guard-gateway/core'
import { asText, type Encoding, withStrings } from './conversation/byte-strings.ts'
import { literal, type StringEncoding } from './conversation/string-encoding.ts'
import { markerWords } from './conversation/tool-calls.ts'
import { marker } from './digest/memory.ts'
import { type LongTextScan, numberAt, PLACEHOLDER_CHARS, scanLongTexts } from './digest/scan.ts'
import { encodingFor } from './elements.ts'
import { mayBeFramed } from './results/unframe-result.ts'

/**
 * Shortens a list before it is parsed: long texts are hashed in the bytes, and the JSON has placeholders instead of them.
 * The result is JSON if the list is. The next call overwrites it.
 */
export const shortenTexts = (
  style: ApiStyle,
  list: Buffer,
): { readonly json: Buffer; readonly strings: StringEncoding } => {
  const scan = style.bytewise === true ? scanLongTexts(list) : undefined
  const json = scan?.json ?? list
  const encoding = encodingFor(style, json)
  return { json, strings: scan === undefined ? literal[encoding] : new ShortenedStrings(list, scan, encoding) }
}

const placeholders = new RegExp(`${marker}[a-p]{4}`, 'g')

const hasPlaceholder = (string: string): boolean => string.includes(marker)

/** Strings in which placeholders stand for long texts, of which only the beginning is left. */
class ShortenedStrings implements StringEncoding {
  readonly encoding: Encoding
  readonly #list: Buffer
  readonly #scan: LongTextScan
  /** The marker words that occur in any of the long texts. */
  readonly #words: readonly string[]

  constructor(list: Buffer, scan: LongTextScan, encoding: Encoding) {
    this.encoding = encoding
    this.#list = list
    this.#scan = scan
    this.#words = markerWords.filter((word) => scan.texts.includes(word))
  }

  expand(string: string): string {
    return hasPlaceholder(string) ? this.#expand(string, this.encoding) : string
  }

  decode<T>(value: T): T {
    const text = this.encoding === 'utf8' ? value : asText(value)
    return withStrings(text, hasPlaceholder, (string) => this.#expand(string, 'utf8'))
  }

  /** Valid until another list is shortened. */
  knownHash(string: string): { readonly hash: string; readonly bytes: number } | undefined {
    const at = string.length - PLACEHOLDER_CHARS
    if (at < 0 || !string.startsWith(marker, at)) return
    const text = numberAt(string, at + marker.length)
    // a string may hold several texts
    if (this.#scan.beginning(text) !== at) return
    if (mayBeFramed(string) || this.#hasMarkerWord(text)) return
    return { hash: this.#scan.hash(text), bytes: this.#scan.bytes(text) }
  }

  #hasMarkerWord(text: number): boolean {
    if (this.#words.length === 0) return false
    const collapsed = this.#scan.collapsed(text)
    return this.#words.some((word) => collapsed.includes(word))
  }

  #expand(string: string, encoding: Encoding): string {
    return string.replace(placeholders, (placeholder) => {
      const { start, end } = this.#scan.rest(numberAt(placeholder, marker.length))
      return JSON.parse(`"${this.#list.toString(encoding, start, end)}"`) as string
    })
  }
}
