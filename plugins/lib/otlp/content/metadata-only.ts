import type { Attributes } from 'guard-gateway/core'
import { isJsonObject } from 'guard-gateway/lib/json'
import { classOfName, type NameClass } from './content-names.ts'
import { type HarmlessForm, harmlessNames, IDENTIFIER_FAMILY, LABEL_FAMILY } from './harmless-names.ts'
import { addressText, errorText, isCounts, isCountsText, isIdentifier, isLabel, isPlain } from './plain-text.ts'

type Handling = HarmlessForm | NameClass

const OWN_PREFIXES = /^(?:guard\.(?:run\.|artifact\.)?attr\.|resource\.)+/

const handlingOf = (name: string): Handling => {
  const known = harmlessNames.get(name)
  if (known !== undefined) return known
  const bare = name.replace(OWN_PREFIXES, '')
  if (bare !== name) return handlingOf(bare)
  const named = classOfName(name)
  if (named === 'content') return named
  if (LABEL_FAMILY.test(name)) return 'label'
  return IDENTIFIER_FAMILY.test(name) ? 'identifier' : named
}

/** A name, and no text in the place of one. */
const NAME = /^[^\s"'`{}[\]]*$/

/** Names of what a call used and cost. */
const USAGE = /(?:usage|token|cost)/i

/** A short list of short texts is as much as one text. */
const isPlainList = (texts: readonly string[]): boolean => texts.every(isPlain) && isPlain(texts.join(' '))

/**
 * What stays of attributes that other programs sent where only metadata is kept: numbers, booleans, known identifiers and
 * short plain texts. Remembers what it found of names, so one serves a request or a file.
 */
export class MetadataOnly {
  readonly #handlings = new Map<string, Handling>()

  /** What is kept of a value; undefined if nothing is. Values that stay whole come back as they are. */
  kept(name: string, value: unknown): unknown {
    if (typeof value === 'string') return this.#text(name, value)
    if (Array.isArray(value)) return this.#list(name, value)
    if (!isJsonObject(value)) return value
    const handling = this.#handling(name)
    return handling !== 'content' && isCounts(value) ? value : undefined
  }

  /** The attributes that stay; `dropped` receives the number of removed ones. The same object if all stay. */
  attributes(attributes: Attributes, dropped: (count: number) => void): Attributes {
    let changed = false
    let count = 0
    const stays: Record<string, unknown> = Object.create(null)
    for (const [name, value] of Object.entries(attributes)) {
      const kept = NAME.test(name) ? this.kept(name, value) : undefined
      if (kept !== value) changed = true
      if (kept === undefined) count++
      else stays[name] = kept
    }
    if (count > 0) dropped(count)
    return changed ? stays : attributes
  }

  /** How much a value is worth keeping, 0 most: usage and names of known meaning, other numbers, other metadata, content. */
  rank(name: string, value: unknown): 0 | 1 | 2 | 3 {
    const isText = typeof value === 'string' || (typeof value === 'object' && value !== null)
    if (!isText) return USAGE.test(name) || harmlessNames.has(name) ? 0 : 1
    if (this.kept(name, value) !== value) return 3
    return harmlessNames.has(name) || LABEL_FAMILY.test(name) || IDENTIFIER_FAMILY.test(name) ? 0 : 2
  }

  #handling(name: string): Handling {
    let handling = this.#handlings.get(name)
    if (handling === undefined) {
      handling = handlingOf(name)
      this.#handlings.set(name, handling)
    }
    return handling
  }

  #text(name: string, text: string): string | undefined {
    const handling = this.#handling(name)
    if (handling === 'error') return errorText(text)
    if (handling === 'url') return isLabel(addressText(text)) ? addressText(text) : undefined
    return isKeptText(handling, text) ? text : undefined
  }

  #list(name: string, list: readonly unknown[]): unknown {
    const handling = this.#handling(name)
    if (handling === 'links') return list.map((link) => this.#link(link))
    if (handling === 'content') return undefined
    if (isCounts(list)) return list
    if (!list.every((part) => typeof part === 'string')) return undefined
    if (handling === 'label') return list.length <= 64 && list.every(isLabel) ? list : undefined
    return isPlainList(list) && list.every((text) => isKeptText(handling, text)) ? list : undefined
  }

  #link(link: unknown): unknown {
    if (!(isJsonObject(link) && isJsonObject(link.attributes))) return link
    return { ...link, attributes: this.attributes(link.attributes, () => {}) }
  }
}

const isKeptText = (handling: Handling, text: string): boolean => {
  switch (handling) {
    case 'label':
      return isLabel(text)
    case 'program':
      return isIdentifier(text)
    case 'identifier':
      return isPlain(text) || isIdentifier(text)
    case 'counts':
      return isCountsText(text)
    case 'free':
      return isPlain(text) && isIdentifier(text)
    case 'plain':
      return isPlain(text)
    default:
      return false
  }
}
