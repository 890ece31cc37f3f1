import type { Gateway } from 'guard-gateway/core'
import { suggestion } from 'guard-gateway/plugins/cli'
import { upstreamClientKind } from '#lib/upstream-client'
import { at, type ConfigError } from './config-errors.ts'
import type { Config } from './schema.ts'

/** Built-in API styles are valid even if the preset omits them. */
const STYLES = ['messages', 'responses', 'chat_completions', 'gemini', 'ollama']
const CLIENTS = ['undici']
const STORAGES = ['sqlite', 'postgres', 'memory']

/** Storage backends, API styles and upstream clients that no plugin registers. */
export const pluginErrors = (gateway: Gateway, { upstreams, storage: { backend } }: Config): readonly ConfigError[] => {
  const storageIds = [...new Set([...STORAGES, ...gateway.storages.ids()])]
  const styles = [...new Set([...STYLES, ...gateway.apiStyles.ids()])]
  const clients = [...new Set([...CLIENTS, ...gateway.registry(upstreamClientKind).ids()])]
  return [
    ...at(['storage', 'backend'], unknownNameError(backend, storageIds, 'there is no storage')),
    ...upstreams.flatMap((upstream, index) => [
      ...upstream.styles.flatMap((style, nth) =>
        at(['upstreams', index, 'styles', nth], unknownNameError(style, styles, 'no plugin speaks the style')),
      ),
      ...at(['upstreams', index, 'client'], unknownNameError(upstream.client, clients, 'there is no client')),
    ]),
  ]
}

const unknownNameError = (name: string, known: readonly string[], message: string): string | undefined =>
  known.includes(name) ? undefined : `${message} "${name}"; there is ${known.join(', ')}.${suggestion(name, known)}`
