import type { ApiStyle } from 'guard-gateway/core'
import { asText, type Encoding, withStrings } from './conversation/byte-strings.ts'
import { literal, type Wording } from './conversation/string-encoding.ts'
import { tellingWords } from './conversation/tool-calls.ts'
import { mark } from './digest/memory.ts'
import { numberAt, type Scan, STAND_IN, scanned } from './digest/scan.ts'
import { encodingFor } from './elements.ts'
import { opensFrame } from './results/frames.ts'

/**
 * A list as a style best parses it: long texts are hashed where they stand, and what is parsed has stand-ins in place of them.
 * The JSON is written over when another list is shortened; it is JSON if the list is.
 */
export const shortened = (style: ApiStyle, list: Buffer): { readonly json: Buffer; readonly wording: Wording } => {
  const scan = style.bytewise === true ? scanned(list) : undefined
  const json = scan?.json ?? list
  const encoding = encodingFor(style, json)
  return { json, wording: scan === undefined ? literal[encoding] : new StandIns(list, scan, encoding) }
}

const standIns = new RegExp(`${mark}[a-p]{4}`, 'g')

const isMarked = (string: string): boolean => string.includes(mark)

/** Strings with a stand-in in place of each long text, of which only the beginning is left. */
class StandIns implements Wording {
  readonly encoding: Encoding
  readonly #list: Buffer
  readonly #scan: Scan
  /** Those that any long text holds. */
  readonly #words: readonly string[]

  constructor(list: Buffer, scan: Scan, encoding: Encoding) {
    this.encoding = encoding
    this.#list = list
    this.#scan = scan
    this.#words = tellingWords.filter((word) => scan.texts.includes(word))
  }

  spelled(string: string): string {
    return isMarked(string) ? this.#spelled(string, this.encoding) : string
  }

  told<T>(value: T): T {
    const text = this.encoding === 'utf8' ? value : asText(value)
    return withStrings(text, isMarked, (string) => this.#spelled(string, 'utf8'))
  }

  /** Until another list is shortened. */
  known(string: string): { readonly hash: string; readonly bytes: number } | undefined {
    const at = string.length - STAND_IN
    if (at < 0 || !string.startsWith(mark, at)) return
    const text = numberAt(string, at + mark.length)
    // several texts can be one string
    if (this.#scan.beginning(text) !== at) return
    if (opensFrame(string) || this.#isTelling(text)) return
    return { hash: this.#scan.hash(text), bytes: this.#scan.bytes(text) }
  }

  #isTelling(text: number): boolean {
    if (this.#words.length === 0) return false
    const collapsed = this.#scan.collapsed(text)
    return this.#words.some((word) => collapsed.includes(word))
  }

  #spelled(string: string, encoding: Encoding): string {
    return string.replace(standIns, (standIn) => {
      const { start, end } = this.#scan.rest(numberAt(standIn, mark.length))
      return JSON.parse(`"${this.#list.toString(encoding, start, end)}"`) as string
    })
  }
}
