import type { AskJson } from 'guard-gateway/lib/command'
import type { LoginUpstream } from './passthrough-login.ts'

/** What the commands for clients know of the gateway. */
export interface ClientsOptions {
  /** Where it listens: `http://127.0.0.1:8787`. */
  readonly address: string
  readonly gateway_key: string
  /** Absolute path of the configuration file. */
  readonly config: string
  /** Where requests go, in the order in which one is chosen. */
  readonly upstreams: readonly LoginUpstream[]
  /** Whether a request may choose its mode. */
  readonly allow_mode_header: boolean
  /** Words that start this program: node, its flags, the script. */
  readonly guard: readonly string[]
  /** How whoever reads a hint calls this program with its configuration: `npx guard`. */
  readonly calledAs: string
  /** The address of the gateway, if it answers and takes the key; `instead` is said besides how to start it. Throws GATEWAY_NOT_RUNNING and UNAUTHORIZED. */
  readonly running: (instead?: string) => Promise<string>
  /** Lets `work` ask the gateway that runs, at `address`, or one that is opened for it and has none. */
  readonly asking: <T>(work: (ask: AskJson, address: string | undefined) => Promise<T>) => Promise<T>
}
