import type { Attributes, Fragment, FragmentRun, FragmentWarning, Kept, Redactor } from 'guard-gateway/core'
import { cutBeforeRedaction, cutText, sanitise } from 'guard-gateway/lib/text'
import { mapPaced, Pace } from 'guard-gateway/lib/time-slice'
import { checkedAttributes, cutAttributes } from './attributes.ts'

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
): Promise<Kept> => {
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
