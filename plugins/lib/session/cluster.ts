import { type Change, Kind } from 'guard-gateway/core'

declare module 'guard-gateway/core' {
  interface Services {
    cluster: Cluster
  }
}

/** What the processes know of one another that share one storage. There is none where a process is alone, which then costs nothing. */
export interface Cluster {
  /** Id of this process among them. */
  readonly instance: string
  /** This process does the work that only one of them does: retention, recomputing. */
  readonly leads: boolean
  /** The change that tells the others that a policy, an agent or a key has changed. It belongs into the batch that changes it. */
  readonly changed: Change
  /** The condition that no policy, agent or key has changed since this process last read them. */
  readonly unchanged: Change
  /** Reads whether one has changed, and has the listeners drop what they remember. True if one has. */
  refresh(): Promise<boolean>
  /** The process that wrote this, as `writer` of `guard-gateway/lib/ids` names it, is not among them any more. */
  hasDied(process: string): Promise<boolean>
  /** Calls `listener` before anything is decided on what has changed. */
  onChanged(listener: () => void | Promise<void>): void
  /** Calls `listener` with the id of a process that has died, in one process that is alive; again if it rejects. */
  onEnded(listener: (instance: string) => Promise<void>): void
}

/** Something that each process has for itself and that should be the same for all: a file, by its version. */
export interface InstanceFact {
  readonly id: string
  /** Null: there is none. */
  value(): string | null | Promise<string | null>
}

export const instanceFactKind = new Kind<InstanceFact>('fact of an instance', { value: 'function' })

/** What belongs into a batch that changes a policy, an agent or a key: nothing where no other process remembers them. */
export const changedIn = (cluster: Cluster | undefined): readonly Change[] =>
  cluster === undefined ? [] : [cluster.changed]
