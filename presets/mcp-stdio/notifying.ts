import type { Plugin } from 'guard-gateway/core'
import { command } from 'guard-gateway/plugins/notifiers/command'
import { ntfy } from 'guard-gateway/plugins/notifiers/ntfy'
import { slack } from 'guard-gateway/plugins/notifiers/slack'
import { webhook } from 'guard-gateway/plugins/notifiers/webhook'
import { notify } from 'guard-gateway/plugins/notify'
import type { Config } from '../default/config.ts'

/** What tells people; links lead to the gateway that serves the pages. */
export const notifying = ({ notify: options, server }: Config): readonly Plugin[] => [
  webhook,
  slack,
  ntfy,
  command,
  notify({
    ...options,
    base_url:
      options.base_url || `${server.tls.cert === '' ? 'http' : 'https'}://${pagesHost(server.host)}:${server.port}`,
  }),
]

/** Every address is no address to go to. */
const pagesHost = (host: string): string => {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}
