import type { Readable } from 'node:stream'

/** Sends a request to the interface and gives the body of its answer; throws the error that it answers with. Text is sent as JSON, a stream as a file. */
export type Ask = (
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  body?: Readable | string,
  headers?: Readonly<Record<string, string>>,
) => Promise<Readable>

/** Where the commands of Replay find it. */
export interface ReplayCommandOptions {
  /** Lets `work` ask the gateway that runs, or one that is opened for it. */
  readonly asking: <T>(work: (ask: Ask) => Promise<T>) => Promise<T>
  /** The address of the gateway that runs. Throws GATEWAY_NOT_RUNNING. */
  readonly running: () => Promise<string>
}
