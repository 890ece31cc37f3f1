import type { AskStream } from 'guard-gateway/lib/command'

/** Where the commands of Replay find it. */
export interface ReplayCommandOptions {
  /** Lets `work` ask the gateway that runs, or one that is opened for it. */
  readonly asking: <T>(work: (ask: AskStream) => Promise<T>) => Promise<T>
  /** The address of the gateway that runs. Throws GATEWAY_NOT_RUNNING. */
  readonly running: () => Promise<string>
}
