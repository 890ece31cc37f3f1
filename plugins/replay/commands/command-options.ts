import type { AskStream } from '#lib/command'

export interface ReplayCommandOptions {
  /** Gives `work` a client of the running gateway, or of one that is opened in this process. */
  readonly asking: <T>(work: (ask: AskStream) => Promise<T>) => Promise<T>
  /** Address of the running gateway. Throws GATEWAY_NOT_RUNNING. */
  readonly running: () => Promise<string>
}
