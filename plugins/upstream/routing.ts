import { GuardError } from 'guard-gateway/core'
import type { Upstream } from './upstream.ts'

const named = (model: string): string => (model === '' ? ' without a model' : ` and model "${model.slice(0, 100)}"`)

/** Upstreams in the order of the configuration. Throws UNKNOWN for a fallback that is none of them. */
export class Upstreams {
  readonly all: readonly Upstream[]
  readonly #byName: ReadonlyMap<string, Upstream>

  constructor(all: readonly Upstream[]) {
    this.all = all
    this.#byName = new Map(all.map((upstream) => [upstream.name, upstream]))
    // a name that leads nowhere is found now and not when it is needed
    for (const upstream of all) this.fallbacks(upstream)
  }

  get(name: string): Upstream | undefined {
    return this.#byName.get(name)
  }

  /** Those that stand in for an upstream, in order. Throws UNKNOWN for a name that there is not. */
  fallbacks({ name, fallback }: Upstream): readonly Upstream[] {
    return fallback.map((other) => {
      const found = this.#byName.get(other)
      if (found === undefined)
        throw new GuardError('UNKNOWN', `Upstream "${name}" names "${other}" as fallback, which is no upstream.`)
      return found
    })
  }

  /** Those that serve one of the styles. */
  speaking(styles: readonly string[]): readonly Upstream[] {
    return this.all.filter((upstream) => upstream.styles.some((style) => styles.includes(style)))
  }

  /** The first that serves style and model; null: whatever the model. */
  find(styles: readonly string[], model: string | null): Upstream | undefined {
    return this.all.find(
      (upstream) =>
        upstream.styles.some((style) => styles.includes(style)) && (model === null || upstream.serves(model)),
    )
  }

  /** The same. Throws NO_UPSTREAM, which says what there is. */
  route(styles: readonly string[], model: string | null): Upstream {
    const found = this.find(styles, model)
    if (found === undefined) throw this.#none(styles, model)
    return found
  }

  #none(styles: readonly string[], model: string | null): GuardError {
    const wanted = `style ${styles.join(' or ')}${model === null ? '' : named(model)}`
    const there = this.all.map(({ name, styles, models }) => `${name} (${styles.join(', ')}: ${models.join(', ')})`)
    const way =
      there.length === 0
        ? 'Start the gateway with OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY in its environment, or add one under upstreams in guard-config.yml.'
        : 'Add one under upstreams in guard-config.yml, or choose another model.'
    return new GuardError(
      'NO_UPSTREAM',
      `No upstream serves ${wanted}; there is ${there.join('; ') || 'none'}. ${way}`,
      { known: this.all.map(({ name }) => name) },
    )
  }
}
