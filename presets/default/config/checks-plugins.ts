import type { Gateway } from 'guard-gateway/core'
import { upstreamClientKind } from 'guard-gateway/lib/upstream-client'
import { suggestion } from 'guard-gateway/plugins/cli'
import { at, type ConfigFault } from './faults.ts'
import type { Config } from './schema.ts'

/** What comes with the gateway: a configuration may name it although the preset has left it out. */
const STYLES = ['messages', 'responses', 'chat_completions']
const CLIENTS = ['net', 'node_http']
const STORAGES = ['sqlite', 'memory']

/** A storage backend, and styles and clients of upstreams, that no plugin of the gateway is. */
export const pluginFaults = (gateway: Gateway, { upstreams, storage: { backend } }: Config): readonly ConfigFault[] => {
  const kept = [...new Set([...STORAGES, ...gateway.storages.ids()])]
  const styles = [...new Set([...STYLES, ...gateway.apiStyles.ids()])]
  const clients = [...new Set([...CLIENTS, ...gateway.registry(upstreamClientKind).ids()])]
  return [
    ...at(['storage', 'backend'], namedFault(backend, kept, 'there is no storage')),
    ...upstreams.flatMap((upstream, index) => [
      ...upstream.styles.flatMap((style, nth) =>
        at(['upstreams', index, 'styles', nth], namedFault(style, styles, 'no plugin speaks the style')),
      ),
      ...at(['upstreams', index, 'client'], namedFault(upstream.client, clients, 'there is no client')),
    ]),
  ]
}

const namedFault = (name: string, known: readonly string[], fault: string): string | undefined =>
  known.includes(name) ? undefined : `${fault} "${name}"; there is ${known.join(', ')}.${suggestion(name, known)}`
