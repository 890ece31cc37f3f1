import type { Gateway } from 'guard-gateway/core'
import type { Input, Io } from 'guard-gateway/lib/command'
import type { ConfigFault } from '../config/faults.ts'
import type { ProxyRoute } from '../config/network.ts'
import type { Config } from '../config/schema.ts'

/** What a check found; `fix` says what to do about a warning or an error. */
export interface Finding {
  readonly level: 'ok' | 'warning' | 'error'
  readonly what: string
  readonly fix?: string
}

/** What checks know. Without a usable configuration there is neither `config` nor `gateway`. */
export interface CheckContext {
  readonly io: Io
  readonly options: Input['options']
  /** Absolute path of the configuration file. */
  readonly file: string
  readonly config: Config | undefined
  /** What is wrong with the configuration file, or what deserves a word about it. */
  readonly fault: unknown
  readonly warnings: readonly string[]
  /** How the addresses of the configuration are reached. */
  readonly routes: readonly ProxyRoute[]
  /** Proxies of the environment that keep a gateway from starting. */
  readonly environmentFaults: readonly ConfigFault[]
  /** Where the gateway of the configuration answers, or would: `http://127.0.0.1:8787`. */
  readonly address: string
  /** What the gateway that runs there says of itself; undefined if none does. */
  readonly health: Readonly<Record<string, unknown>> | undefined
  /** A gateway of the configuration, opened beside the one that may run; undefined if it cannot be opened. */
  readonly gateway: Gateway | undefined
  /** Why it cannot be opened. */
  readonly unopened: unknown
}

/** One thing that `guard doctor` looks at. */
export type Check = (context: CheckContext) => Promise<readonly Finding[]> | readonly Finding[]

export const ok = (what: string): Finding => ({ level: 'ok', what })
export const warning = (what: string, fix: string): Finding => ({ level: 'warning', what, fix })
export const error = (what: string, fix: string): Finding => ({ level: 'error', what, fix })

/** What an error says, on one line. */
export const reason = (thrown: unknown): string =>
  (thrown instanceof Error ? thrown.message : String(thrown)).replaceAll(/\s*\n\s*/g, '; ')
