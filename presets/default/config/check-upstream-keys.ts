import { headerError } from './check-http.ts'
import { at, type ConfigError, type Path } from './config-errors.ts'
import type { UpstreamConfig } from './schema-upstreams.ts'

/** Statuses that speak of whoever logged in. */
const ofLogins: ReadonlySet<number> = new Set([401, 402, 403, 429])

/** Errors of the keys of an upstream, none of which is shown, and of when its fallbacks are used. */
export const keyErrors = (upstream: UpstreamConfig, path: Path): readonly ConfigError[] => {
  const { api_key, api_keys, auth, fallback, fallback_on } = upstream
  return [
    ...at([...path, 'api_key'], api_key === undefined ? undefined : headerError('x-api-key', api_key)),
    ...api_keys.flatMap((key, index) => at([...path, 'api_keys', index], listedKeyError(key, index, api_keys))),
    ...at([...path, 'api_keys'], api_keys.length === 0 ? undefined : listError(upstream, auth)),
    ...at(
      [...path, 'fallback_on'],
      fallback_on.length > 0 && fallback.length === 0
        ? 'says when to use a fallback, and there is none; name upstreams under fallback, or remove it'
        : undefined,
    ),
  ]
}

const listedKeyError = (key: string, index: number, keys: readonly string[]): string | undefined => {
  const first = keys.indexOf(key)
  return first === index ? headerError('x-api-key', key) : `is the same key as api_keys[${first}]`
}

const listError = ({ api_key }: UpstreamConfig, auth: UpstreamConfig['auth']): string | undefined => {
  if (api_key !== undefined) return 'stands beside api_key; put all keys into api_keys, and remove api_key'
  if (auth === 'passthrough') return 'is not used with auth: passthrough, which takes the login of the client'
  return auth === 'none' ? 'is not used with auth: none; choose another auth, or remove the keys' : undefined
}

/** Warnings about upstreams with too few keys, and with statuses that never lead to a fallback. */
export const keyWarnings = ({ name, api_key, api_keys, auth, fallback_on }: UpstreamConfig): readonly string[] => {
  const isKeyless =
    api_key === undefined && api_keys.length === 0 && auth !== 'auto' && auth !== 'none' && auth !== 'passthrough'
  const loginStatuses = auth === 'passthrough' ? fallback_on.filter((status) => ofLogins.has(status)) : []
  return [
    ...(isKeyless ? [`Upstream ${name} has auth: ${auth} but no api_key.`] : []),
    ...(loginStatuses.length === 0
      ? []
      : [
          `Upstream ${name} never falls back after ${loginStatuses.join(', ')}: with auth: passthrough these are about the login of the client, who is told.`,
        ]),
  ]
}
