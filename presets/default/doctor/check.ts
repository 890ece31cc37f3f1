import type { Gateway } from 'guard-gateway/core'
import type { Input, Io } from '#lib/command'
import type { ConfigError } from '../config/config-errors.ts'
import type { ProxyRoute } from '../config/network.ts'
import type { Config } from '../config/schema.ts'

/** Result of a check. `fix` is the remedy for a warning or an error. */
export interface Finding {
  readonly level: 'ok' | 'warning' | 'error'
  readonly what: string
  readonly fix?: string
}

/** Input of checks. Without a valid configuration, `config` and `gateway` are undefined. */
export interface CheckContext {
  readonly io: Io
  readonly options: Input['options']
  readonly file: string
  readonly config: Config | undefined
  /** Error of the configuration file. */
  readonly configError: unknown
  readonly warnings: readonly string[]
  /** Proxy and certificates of each address. */
  readonly routes: readonly ProxyRoute[]
  /** Proxies of the environment that prevent the start. */
  readonly environmentErrors: readonly ConfigError[]
  /** Address of the configured gateway: `http://127.0.0.1:8787`. */
  readonly address: string
  /** Health response of the running gateway; undefined if none runs. */
  readonly health: Readonly<Record<string, unknown>> | undefined
  /** A gateway opened for the checks, beside a running one; undefined if it cannot be opened. */
  readonly gateway: Gateway | undefined
  /** Why it cannot be opened. */
  readonly unopened: unknown
}

export type Check = (context: CheckContext) => Promise<readonly Finding[]> | readonly Finding[]

export const ok = (what: string): Finding => ({ level: 'ok', what })
export const warning = (what: string, fix: string): Finding => ({ level: 'warning', what, fix })
export const error = (what: string, fix: string): Finding => ({ level: 'error', what, fix })

/** Message of an error, on one line. */
export const reason = (thrown: unknown): string =>
  (thrown instanceof Error ? thrown.message : String(thrown)).replaceAll(/\s*\n\s*/g, '; ')
