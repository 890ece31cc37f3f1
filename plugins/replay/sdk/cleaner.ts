import { type Finder, type Redactor, redactor } from 'guard-gateway/redact'
import { cutText, sanitise } from 'guard-gateway/text'
import type { GuardOptions, Leaf } from './api.ts'
import type { AttributeSet } from './attribute-set.ts'
import { GuardUseError } from './errors.ts'
import type { Report } from './reports.ts'
import type { Plain } from './snapshot.ts'

/** Limits of the gateway, in UTF-16 units. */
const NAME_CHARS = 256
const VALUE_CHARS = 8_192
/** All texts in the attributes of one record. The gateway accepts 65,536 after its own redaction, which can lengthen texts. */
const ALL_CHARS = 60_000
const HIDDEN = '[REDACTED]'
/** A shorter key would match too many texts. */
const MIN_KEY_CHARS = 8

export type Path = readonly (string | number)[]
type Mask = NonNullable<GuardOptions['mask']>

/** Prepares records for the send: redacts secrets, applies the mask of the user, then the limits of the gateway. */
export class Cleaner {
  readonly #redactor: Redactor
  readonly #mask: Mask | undefined
  readonly #report: Report

  constructor(redact: Redactor, mask: Mask | undefined, report: Report) {
    this.#redactor = redact
    this.#mask = mask
    this.#report = report
  }

  /** A text of at most `max` units. */
  text(text: string, max: number, path: Path): string {
    const masked = this.#masked(this.#redactor.text(sanitise(text)), path)
    return typeof masked === 'string' ? cutText(sanitise(masked), max) : HIDDEN
  }

  /** Attributes within all limits. `sdk.dropped_attributes` counts the omitted ones. */
  attributes(attributeSet: AttributeSet, path: Path): Readonly<Record<string, Plain>> | undefined {
    if (attributeSet.values.size === 0) return undefined
    const raw: Record<string, Plain> = Object.create(null)
    for (const [name, value] of attributeSet.values) raw[sanitise(name)] = value
    const clean: Record<string, Plain> = Object.create(null)
    const room = { chars: ALL_CHARS }
    let left = attributeSet.leftOut
    for (const [name, value] of Object.entries(this.#redactor.value(raw))) {
      const result = this.#sumOnlyCalls(value, [...path, name], room)
      if (room.chars < 0) {
        left++
        room.chars = 0
      } else clean[cutText(name, NAME_CHARS)] = result
    }
    if (left > 0) clean['sdk.dropped_attributes'] = left
    return clean
  }

  #sumOnlyCalls(value: Plain, path: Path, room: { chars: number }): Plain {
    if (typeof value !== 'object' || value === null) return this.#leaf(value, path, room)
    if (Array.isArray(value)) return value.map((part: Plain, index) => this.#sumOnlyCalls(part, [...path, index], room))
    const copy: Record<string, Plain> = Object.create(null)
    for (const [name, part] of Object.entries(value)) {
      const formed = cutText(sanitise(name), VALUE_CHARS)
      room.chars -= formed.length
      copy[formed] = this.#sumOnlyCalls(part, [...path, name], room)
    }
    return copy
  }

  #leaf(value: Leaf, path: Path, room: { chars: number }): Leaf {
    const masked = this.#masked(typeof value === 'string' ? sanitise(value) : value, path)
    if (typeof masked !== 'string') return masked
    const text = cutText(sanitise(masked), VALUE_CHARS)
    room.chars -= text.length
    return text
  }

  /** The result of the mask. The leaf is redacted if the mask throws or returns anything else, a promise included. */
  #masked(value: Leaf, path: Path): Leaf {
    if (this.#mask === undefined) return value
    try {
      const result: unknown = this.#mask(value, path)
      if (isLeaf(result)) return result
      if (result instanceof Promise) result.catch(() => {})
      this.#maskFailed(path, `returned ${result instanceof Promise ? 'a promise' : typeof result}`, undefined)
    } catch (error) {
      this.#maskFailed(path, 'threw', error)
    }
    return HIDDEN
  }

  #maskFailed(path: Path, how: string, cause: unknown): void {
    const message = `mask ${how} for ${path.join('.')}, which is sent as ${HIDDEN}. It must return a string, number, boolean or null.`
    this.#report(new GuardUseError('MASK_FAILED', message, cause))
  }
}

const isLeaf = (value: unknown): value is Leaf =>
  value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)

/** The redactor of a guard: the rules of the gateway, and the gateway key. */
export const guardRedactor = (key: string | undefined): Redactor =>
  redactor({ finders: key !== undefined && key.length >= MIN_KEY_CHARS ? [finderOf(key)] : [] })

const finderOf =
  (key: string): Finder =>
  (text, from) => {
    const at = text.indexOf(key, from)
    return at === -1 ? undefined : [at, at + key.length]
  }
