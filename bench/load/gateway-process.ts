import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type GatewayProgram, ownGateway } from '../programs.ts'
import type { Child } from './child.ts'

/** The gateway key of bench clients. */
export const KEY = 'bench-gateway-key-0123456789'

export type Start = (name: string, program: string | GatewayProgram, args?: readonly string[], cwd?: string) => Child

export interface GatewaySettings {
  /** Port of the provider. */
  readonly upstream: number
  /** The section `storage` of the configuration, as members of a YAML flow mapping. */
  readonly storage: string
  /** Absent: chat_completions and messages. */
  readonly styles?: readonly string[]
  /** Absent: as many as a gateway allows, which an older one need not know. */
  readonly websocket_connections?: number
}

/** A gateway as users start it: command line, default preset and configuration file in a folder. */
export const startGateway = async (
  start: Start,
  name: string,
  folder: string,
  settings: GatewaySettings,
  program = ownGateway,
): Promise<{ readonly child: Child; readonly port: number }> => {
  const config = await writeConfiguration(folder, settings)
  const child = start(name, program, ['gateway', 'run', '--json', '--config', config], folder)
  const { url } = JSON.parse(await child.line()) as { readonly url: string }
  return { child, port: Number(new URL(url).port) }
}

/** Writes the configuration file of a gateway. Resolves to its path. */
export const writeConfiguration = async (folder: string, settings: GatewaySettings): Promise<string> => {
  const config = join(folder, 'guard-config.yml')
  await writeFile(config, configuration(settings), { mode: 0o600 })
  return config
}

const configuration = ({
  upstream,
  storage,
  styles = ['chat_completions', 'messages'],
  websocket_connections,
}: GatewaySettings): string => `gateway_key: ${KEY}
server:
  port: 0
${websocket_connections === undefined ? '' : `  websocket_connections: ${websocket_connections}\n`}storage: { ${storage} }
upstreams:
  - name: bench
    base_url: http://127.0.0.1:${upstream}
    api_key: sk-bench-provider-key-0123456789
    styles: [${styles.join(', ')}]
    models: ['*']
`
