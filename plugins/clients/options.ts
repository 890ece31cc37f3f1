import type { AskJson } from '#lib/command'
import type { LoginUpstream } from './passthrough-login.ts'

export interface ClientsOptions {
  /** Address that the gateway listens on: `http://127.0.0.1:8787`. */
  readonly address: string
  /** File with the certificate or authority that agents have to trust beside those that they know; empty or absent: none. */
  readonly authority?: string
  readonly gateway_key: string
  /** Absolute path of the configuration file. */
  readonly config: string
  /** Upstreams in the order in which one is chosen. */
  readonly upstreams: readonly LoginUpstream[]
  /** Whether a request may choose its mode. */
  readonly allow_mode_header: boolean
  /** Command line that starts this program: node, its flags, the script. */
  readonly guard: readonly string[]
  /** Further flags of node for a gateway that is started here. */
  readonly gateway_flags?: readonly string[]
  /** Command line for hints: `npx guard`. */
  readonly calledAs: string
  /** Address of a gateway that answers and accepts the key. `instead` extends the hint of the error. Throws GATEWAY_NOT_RUNNING and UNAUTHORIZED. */
  readonly running: (instead?: string) => Promise<string>
  /** Gives `work` a client of the gateway that runs at `address`, or of one that is opened in this process and has no address. */
  readonly asking: <T>(work: (ask: AskJson, address: string | undefined) => Promise<T>) => Promise<T>
}
