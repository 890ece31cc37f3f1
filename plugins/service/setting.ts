import type { Input, Io } from '#lib/command'

/** What a service needs to know of a configuration. */
export interface ServiceConfig {
  /** Address that a gateway with it is called at. */
  readonly address: string
  /** Folder of an SQLite database; null for another storage. */
  readonly data: string | null
  /** Several gateways may share its storage, which can be away for a while. */
  readonly shared: boolean
  readonly shutdown_grace_seconds: number
  readonly warnings: readonly string[]
}

export interface ServiceOptions {
  /** Command line that starts this program: node, its flags, the script. */
  readonly guard: readonly string[]
  /** Absolute path of the configuration file. */
  readonly locate: (options: Input['options'], io: Io) => string
  /** Names of the variables `${NAME}` in a configuration file, and of those that it looks for by itself. Throws INVALID_CONFIG. */
  readonly variables: (
    file: string,
  ) => Promise<{ readonly named: readonly string[]; readonly usual: readonly string[] }>
  /** Checks a configuration file with the environment that the service will have. Throws INVALID_CONFIG. */
  readonly read: (file: string, env: Io['env']) => Promise<ServiceConfig>
  /** Throws PORT_TAKEN, with what is known of the holder. */
  readonly checkPort: (address: string) => Promise<void>
  /** Makes this process trust the gateway's own certificate. */
  readonly trust?: (file: string, env: Io['env']) => Promise<void>
  readonly platform?: NodeJS.Platform
  /** The folder that is there where systemd has started the machine. */
  readonly systemd_folder?: string
  /** How long a start may take, in milliseconds. */
  readonly start_ms?: number
}

/** What stands in the file of a service. */
export interface ServiceSetting {
  /** Node, its flags, the script and the command. */
  readonly command: readonly string[]
  /** Working folder. */
  readonly folder: string
  /** Folders in which the gateway and its MCP servers look for programs. */
  readonly path: string
  /** File with keys of the environment. */
  readonly keys: string
  readonly config: ServiceConfig
}

/** Time beyond the grace of a gateway before it is killed, in seconds: requests that are cut off are recorded in it. */
const RECORD_SECONDS = 15

export const stopSeconds = ({ shutdown_grace_seconds }: Pick<ServiceConfig, 'shutdown_grace_seconds'>): number =>
  Math.ceil(shutdown_grace_seconds) + RECORD_SECONDS
