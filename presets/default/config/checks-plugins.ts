import { type Gateway, GuardError } from 'guard-gateway/core'
import { suggestion } from 'guard-gateway/plugins/cli'
import { dotted, type Path } from './faults.ts'
import type { Config } from './schema.ts'

/** What comes with the gateway: a configuration may name it although the preset has left it out. */
const STYLES = ['messages', 'responses', 'chat_completions']
const CLIENTS = ['net', 'node_http']
const STORAGES = ['sqlite', 'memory']

/** Refuses a storage backend and an upstream whose styles or client no plugin of the gateway is. Throws INVALID_CONFIG. */
export const checkPlugins = (
  { apiStyles, upstreamClients, storages }: Gateway,
  { upstreams, storage: { backend } }: Config,
): void => {
  const kept = [...new Set([...STORAGES, ...storages.ids()])]
  checkNamed(backend, kept, ['storage', 'backend'], `there is no storage "${backend}"`)
  const styles = [...new Set([...STYLES, ...apiStyles.ids()])]
  const clients = [...new Set([...CLIENTS, ...upstreamClients.ids()])]
  for (const [index, upstream] of upstreams.entries()) {
    for (const [at, style] of upstream.styles.entries())
      checkNamed(style, styles, ['upstreams', index, 'styles', at], `no plugin speaks the style "${style}"`)
    const { client } = upstream
    checkNamed(client, clients, ['upstreams', index, 'client'], `there is no client "${client}"`)
  }
}

const checkNamed = (name: string, known: readonly string[], place: Path, fault: string): void => {
  if (known.includes(name)) return
  const path = dotted(place)
  const told = `${path}: ${fault}; there is ${known.join(', ')}.${suggestion(name, known)}`
  throw new GuardError('INVALID_CONFIG', told, { path, known })
}
