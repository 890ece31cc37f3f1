import {
  type Attributes,
  attributeLimits,
  type CleanedFragment,
  type Fragment,
  type FragmentRun,
  type FragmentWarning,
  GuardError,
  type Redactor,
} from 'guard-gateway/core'
import { isJsonObject, pointerPart } from '#lib/json'
import { cutBeforeRedaction, cutText, sanitise } from '#lib/text'
import { mapPaced, Pace } from '#lib/time-slice'

/** UTF-16 units. */
const NAME_CHARS = 256
const MESSAGE_CHARS = 2_000
const PATH_CHARS = 4_096

type Text = string | null | undefined

/** Cleans the parts of one fragment and collects what it had to cut. */
class Cleaner {
  readonly warnings: FragmentWarning[] = []
  readonly #redact: Pick<Redactor, 'text' | 'value'>
  readonly #cleaned: WeakSet<object>
  constructor(redact: Pick<Redactor, 'text' | 'value'>, cleaned: WeakSet<object>) {
    this.#redact = redact
    this.#cleaned = cleaned
  }

  /** Redacted before it is cut: the other way round half a secret would stay. */
  text<T extends Text>(text: T, max: number, path: string): T {
    if (typeof text !== 'string') return text
    const whole = this.#redact.text(cutBeforeRedaction(sanitise(text)))
    if (whole.length <= max) return whole as T
    this.#cut(path, max)
    return cutText(whole, max) as T
  }

  attributes<T extends Attributes | undefined>(attributes: T, path: string): T {
    if (attributes === undefined) return attributes
    const redacted = this.#redact.value(checkedAttributes(attributes, path))
    const clean = cutAttributes(redacted, path, (at, max) => this.#cut(at, max))
    this.#cleaned.add(clean)
    return clean as T
  }

  run(run: FragmentRun): FragmentRun {
    const names = ['name', 'default_name', 'task_id', 'agent_name', 'default_agent_name'] as const
    const texts = Object.fromEntries(
      names.flatMap((name) => (name in run ? [[name, this.text(run[name], NAME_CHARS, `/${name}`)]] : [])),
    )
    const lists = Object.fromEntries(
      (['tags', 'default_tags'] as const).flatMap((name) => {
        const tags = run[name]?.map((tag, index) => this.text(tag, NAME_CHARS, `/${name}/${index}`))
        return tags === undefined ? [] : [[name, [...new Set(tags)]]]
      }),
    )
    return {
      ...run,
      ...texts,
      ...lists,
      ...(run.attributes === undefined ? {} : { attributes: this.attributes(run.attributes, '/attributes') }),
    }
  }

  /** The record with its attributes and these texts clean. */
  record<R extends { readonly attributes?: Attributes }>(
    record: R,
    texts: readonly (readonly [name: keyof R & string, max: number])[],
    path: string,
  ): R {
    const copy: Record<string, unknown> = { ...record }
    for (const [name, max] of texts) {
      const value = copy[name]
      if (typeof value === 'string') copy[name] = this.text(value, max, `${path}/${name}`)
    }
    if (record.attributes !== undefined) copy.attributes = this.attributes(record.attributes, `${path}/attributes`)
    return copy as R
  }

  #cut(path: string, max: number): void {
    this.warnings.push({ code: 'value_truncated', message: `A text was cut to ${max} characters.`, path })
  }
}

/**
 * Sanitises, redacts and limits all that a fragment says; a large one in turns with other work. Attributes that come out
 * of it are remembered in `cleaned`, so that they are not scanned again. Throws TOO_DEEP, TOO_MANY_ATTRIBUTES and
 * INVALID_TRACE with a pointer into the fragment.
 */
export const cleanFragment = async (
  fragment: Fragment,
  redact: Pick<Redactor, 'text' | 'value'>,
  cleaned: WeakSet<object>,
): Promise<CleanedFragment> => {
  const cleaner = new Cleaner(redact, cleaned)
  const pace = new Pace()
  const run = cleaner.run(fragment.run)
  const spans = await mapPaced(fragment.spans, pace, (one, at) => cleaner.record(one, SPAN_TEXTS, `/spans/${at}`))
  const events = await mapPaced(fragment.events, pace, (one, at) => cleaner.record(one, EVENT_TEXTS, `/events/${at}`))
  const artifacts = await mapPaced(fragment.artifacts, pace, (one, at) =>
    cleaner.record(one, ARTIFACT_TEXTS, `/artifacts/${at}`),
  )
  return { fragment: { ...fragment, run, spans, events, artifacts }, warnings: cleaner.warnings }
}

const SPAN_TEXTS = [
  ['name', NAME_CHARS],
  ['status_message', MESSAGE_CHARS],
] as const
const EVENT_TEXTS = [['name', NAME_CHARS]] as const
const ARTIFACT_TEXTS = [
  ['path', PATH_CHARS],
  ['mime_type', NAME_CHARS],
] as const

/** The value with every text passed through `map`, after `enter` had each part; itself where nothing changed. */
const mapped = (
  input: unknown,
  map: (text: string, path: string) => string,
  path: string,
  enter: (part: unknown, depth: number, path: string) => unknown,
  depth = 0,
): unknown => {
  const value = enter(input, depth, path)
  if (typeof value === 'string') return map(value, path)
  if (typeof value !== 'object' || value === null) return value
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value)
  let copy: object | undefined
  for (const [key, part] of entries) {
    const result = mapped(part, map, `${path}/${pointerPart(String(key))}`, enter, depth + 1)
    if (Object.is(result, part)) continue
    copy ??= Array.isArray(value) ? [...value] : { ...value }
    Object.defineProperty(copy, key, { value: result, enumerable: true, configurable: true, writable: true })
  }
  return copy ?? value
}

/** Attributes that may be looked at further: few enough, each named, not too deep, every number finite, every text well-formed. */
const checkedAttributes = (attributes: Attributes, path: string): Attributes => {
  const keys = Object.keys(attributes)
  if (keys.length > attributeLimits.keys)
    throw tooMany(`${keys.length} attributes; a record may have ${attributeLimits.keys}`, path)
  if (keys.some((key) => key.length > attributeLimits.key_chars))
    throw tooMany(`an attribute's name is longer than ${attributeLimits.key_chars} characters`, path)
  if ('' in attributes)
    throw new GuardError('INVALID_TRACE', 'An attribute has no name. Name it, or leave it out.', { path: `${path}/` })
  return mapped(attributes, (text) => cutBeforeRedaction(sanitise(text)), path, formed) as Attributes
}

/** The part with its names well-formed. Throws for one that is too deep or no finite number. */
const formed = (part: unknown, depth: number, path: string): unknown => {
  if (depth > attributeLimits.depth)
    throw new GuardError('TOO_DEEP', `Attributes nest deeper than ${attributeLimits.depth} levels.`, { path })
  // an integer beyond all doubles is none that readers of JSON or OTLP take
  if ((typeof part === 'number' || typeof part === 'bigint') && !Number.isFinite(Number(part)))
    throw new GuardError('INVALID_TRACE', 'A number is not finite. Send a finite number, or a text.', { path })
  if (typeof part !== 'object' || part === null || Array.isArray(part)) return part
  if (Object.keys(part).every((key) => sanitise(key) === key)) return part
  return Object.fromEntries(Object.entries(part).map(([key, value]) => [sanitise(key), value]))
}

const tooMany = (what: string, path: string): GuardError =>
  new GuardError('TOO_MANY_ATTRIBUTES', `There is more than is kept: ${what}.`, { path })

/** Attributes with long texts cut; `cut` is told of each. Throws TOO_MANY_ATTRIBUTES where all of them are still too long. */
const cutAttributes = (attributes: Attributes, path: string, cut: (path: string, max: number) => void): Attributes => {
  let chars = 0
  const shorten = (text: string, at: string): string => {
    const stored = text.length <= attributeLimits.value_chars ? text : cutText(text, attributeLimits.value_chars)
    if (stored !== text) cut(at, attributeLimits.value_chars)
    chars += stored.length
    return stored
  }
  const countNames = (part: unknown, depth: number): unknown => {
    if (depth > 0 && isJsonObject(part)) for (const name of Object.keys(part)) chars += name.length
    return part
  }
  const short = mapped(attributes, shorten, path, countNames) as Attributes
  if (chars > attributeLimits.all_chars)
    throw tooMany(`${chars} characters of attributes; a record may have ${attributeLimits.all_chars}`, path)
  return short
}
