import { type Gateway, GuardError, type Identity } from 'guard-gateway/core'
import type { Upstream } from './upstream.ts'

const named = (model: string): string => (model === '' ? ' without a model' : ` and model "${model.slice(0, 100)}"`)

/** Whether an upstream gets the requests of a project. */
export const isFor = ({ projects }: Upstream, project: string): boolean => projects === null || projects.has(project)

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

  /** Some are for some projects alone, so that it matters whose a request is. */
  get areDivided(): boolean {
    return this.all.some(({ projects }) => projects !== null)
  }

  /** The upstream of this name, if it serves the project. */
  named(name: string | null | undefined, project: string): Upstream | undefined {
    const found = this.#byName.get(name ?? '')
    return found !== undefined && isFor(found, project) ? found : undefined
  }

  /** Those that serve the project and one of the styles. */
  speaking(styles: readonly string[], project: string): readonly Upstream[] {
    return this.all.filter(
      (upstream) => isFor(upstream, project) && upstream.styles.some((style) => styles.includes(style)),
    )
  }

  /** The first that serves project, style and model; null: whatever the model. */
  find(styles: readonly string[], model: string | null, project: string): Upstream | undefined {
    return this.speaking(styles, project).find((upstream) => model === null || upstream.serves(model))
  }

  /** The same. Throws NO_UPSTREAM, which says what there is. */
  route(styles: readonly string[], model: string | null, project: string): Upstream {
    const found = this.find(styles, model, project)
    if (found === undefined) throw this.#none(styles, model, project)
    return found
  }

  #none(styles: readonly string[], model: string | null, project: string): GuardError {
    const whose = this.areDivided ? ` for project "${project}"` : ''
    const required = `style ${styles.join(' or ')}${model === null ? '' : named(model)}${whose}`
    const seen = this.all.filter((upstream) => isFor(upstream, project))
    const there = seen.map(({ name, styles, models }) => `${name} (${styles.join(', ')}: ${models.join(', ')})`)
    const way =
      there.length === 0
        ? 'Start the gateway with OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY in its environment, or add one under upstreams in guard-config.yml.'
        : 'Add one under upstreams in guard-config.yml, or choose another model.'
    return new GuardError(
      'NO_UPSTREAM',
      `No upstream serves ${required}; there is ${there.join('; ') || 'none'}. ${way}`,
      { known: seen.map(({ name }) => name) },
    )
  }
}

/** The project that a request is of, where some upstreams are for some projects alone; elsewhere nobody asks. */
export const projectOf = async (
  gateway: Gateway,
  upstreams: Upstreams,
  { headers, identity }: { readonly headers: Readonly<Record<string, string>>; readonly identity: Identity },
): Promise<string> => {
  if (!upstreams.areDivided) return ''
  const sessions = gateway.service('sessions').get()
  return sessions === undefined ? 'default' : (await sessions.callerOf(headers, identity)).project_id
}
