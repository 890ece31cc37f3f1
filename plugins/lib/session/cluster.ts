import type { Change } from 'guard-gateway/core'

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
  /** Calls `listener` before anything is decided on what has changed. */
  onChanged(listener: () => void | Promise<void>): void
  /** Calls `listener` with the id of a process that has died, in one process that is alive; again if it rejects. */
  onEnded(listener: (instance: string) => Promise<void>): void
}

/** What belongs into a batch that changes a policy, an agent or a key: nothing where no other process remembers them. */
export const changedIn = (cluster: Cluster | undefined): readonly Change[] =>
  cluster === undefined ? [] : [cluster.changed]
