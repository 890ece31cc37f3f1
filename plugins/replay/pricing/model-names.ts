import { LRU } from 'tiny-lru'

/** A name under which a price file may list a model. `region`: where it runs, if a removed prefix said so, such as `us` or `global`. */
export interface ModelName {
  readonly name: string
  readonly region: string | null
}

/** A step that makes a shorter name of one; undefined if it does not apply. */
type Step = (name: string) => { readonly name: string; readonly region?: string } | undefined

const without =
  (pattern: RegExp): Step =>
  (name) =>
    pattern.test(name) ? { name: name.replace(pattern, '') } : undefined

/** Cross-region prefixes of Amazon Bedrock. */
const REGION = /^(us-gov|us|eu|apac|global|jp|au|ca|uk|in|sa|me)\.(?=[a-z][a-z0-9-]*\.)/

const region: Step = (name) => {
  const found = REGION.exec(name)
  return found === null ? undefined : { name: name.slice(found[0].length), region: found[1] ?? '' }
}

/** The vendor before a model of Amazon Bedrock, such as `anthropic.`; no part of a version such as `gpt-5.4`. */
const vendor: Step = (name) => (REGION.test(name) ? undefined : without(/^[a-z][a-z0-9-]*\.(?=[a-z])/)(name))

const steps: readonly Step[] = [
  // a path: `openai/…`, `models/…`, `publishers/anthropic/models/…`, an ARN
  without(/^[^/]*\/(?=.)/),
  region,
  vendor,
  // Vertex AI: `…@20251001`, `…@default`
  without(/@[a-z0-9.-]+$/),
  // Claude Code: a long context window is asked for
  without(/\[\d+[km]\]$/),
  // Amazon Bedrock: `-v1:0`, `-v1:0:200k`, `:0`, and without the minor version
  without(/(?:-v\d+)?:\d+(?::\d+[km])?$/),
  without(/-v1$/),
  without(/[-:]latest$/),
  // a date
  without(/-20\d{2}-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])$/),
]

const MAX_NAMES = 64

/**
 * Further names of a model, those with fewer changes first, in lower case: without provider, region, vendor, version of a platform and date.
 * What changes a price stays, such as `:free` or the `ft:` of a tuned model.
 */
export const namesOf = (model: string): readonly ModelName[] => {
  const names: ModelName[] = [{ name: model.toLowerCase().trim(), region: null }]
  const seen = new Set(names.map(({ name }) => name))
  for (let at = 0; at < names.length && names.length < MAX_NAMES; at++) {
    const { name, region } = names[at] as ModelName
    if (name.startsWith('ft:')) continue
    for (const step of steps) {
      const made = step(name)
      if (made === undefined || made.name === '' || seen.has(made.name)) continue
      seen.add(made.name)
      names.push({ name: made.name, region: made.region ?? region })
    }
  }
  return names
}

/** A name as names are compared: lower case, and a version is written `4-5` in one place and `4.5` in another. */
export const comparable = (name: string): string => name.toLowerCase().replaceAll(/(?<=\d)\.(?=\d)/g, '-')

/** What a model was found as. */
export interface Found<T> {
  readonly value: T
  /** The name or pattern in the file. */
  readonly listed: string
  readonly region: string | null
}

/** Longer names are of no model, and their normalisation takes time. */
const MAX_CHARS = 300
const MAX_ENTRIES = 1_000

/** Values of models by name and by pattern, a name with `*` at the end. */
export class ModelTable<T> {
  readonly #values: ReadonlyMap<string, T>
  readonly #comparable = new Map<string, string>()
  /** The longest first. */
  readonly #patterns: readonly (readonly [start: string, listed: string])[]
  readonly #found = new LRU<Found<T> | null>(MAX_ENTRIES)

  constructor(values: ReadonlyMap<string, T>) {
    this.#values = values
    const names = [...values.keys()]
    for (const name of names) if (!isPattern(name)) this.#comparable.set(comparable(name), name)
    this.#patterns = names
      .filter(isPattern)
      .map((name): [string, string] => [name.slice(0, -1), name])
      .sort(([one], [other]) => other.length - one.length)
  }

  /** The model by its own name, else by the most specific of a further name and a pattern of its own name, else by the longest pattern of a further name. */
  find(model: string): Found<T> | undefined {
    const value = this.#values.get(model)
    if (value !== undefined && !isPattern(model)) return { value, listed: model, region: null }
    if (model.length > MAX_CHARS) return undefined
    let found = this.#found.get(model)
    if (found === undefined) {
      found = this.#search(model)
      this.#found.set(model, found)
    }
    return found ?? undefined
  }

  #search(model: string): Found<T> | null {
    const own = this.#patterns.find(([start]) => model.startsWith(start))
    const names = namesOf(model)
    for (const { name, region } of names) {
      const listed = this.#comparable.get(comparable(name))
      if (listed === undefined) continue
      return own !== undefined && own[0].length > listed.length
        ? this.#entry(own[1], null)
        : this.#entry(listed, region)
    }
    if (own !== undefined) return this.#entry(own[1], null)
    for (const [start, listed] of this.#patterns) {
      const named = names.find(({ name }) => comparable(name).startsWith(comparable(start)))
      if (named !== undefined) return this.#entry(listed, named.region)
    }
    return null
  }

  #entry(listed: string, region: string | null): Found<T> {
    return { value: this.#values.get(listed) as T, listed, region }
  }
}

const isPattern = (name: string): boolean => name.endsWith('*')
