/** One receiver: the notifier that reaches it, and whatever that one's schema names. */
export interface ReceiverOptions {
  readonly notifier: string
  readonly [option: string]: unknown
}

/** Which notices go where, and how often at most. */
export interface RuleOptions {
  /** All if absent or empty. */
  readonly events?: readonly string[]
  /** Notices of these projects, and those of no project; all if absent or empty. */
  readonly projects?: readonly string[]
  /** Receivers by name; all if absent or empty. */
  readonly to?: readonly string[]
  /** At most one message about the same in so many minutes; 5 if absent. */
  readonly every_minutes?: number
}

export interface NotifyOptions {
  /** What links in messages begin with; empty: the address that the gateway listens at. */
  readonly base_url?: string
  readonly receivers?: Readonly<Record<string, ReceiverOptions>>
  /** The first that matches a notice decides for each of its receivers. Without one, all notices go to all receivers. */
  readonly rules?: readonly RuleOptions[]
}

/** What the gateway tells of by itself, each with when it does. */
export const knownEvents = {
  blocked: 'a rule has refused a request',
  flagged: 'a rule that looks for loops has matched, and the request went on',
  paused: 'a session waits for a person',
  approval_waiting: 'a tool call waits for a person',
  budget: 'a budget is used by 50, 80 or 100 %',
  tool_changed: 'a tool is new, or is not what is trusted any more',
  upstream_failing: 'an upstream has failed three times in a row',
  storage_failing: 'the storage is full or fails',
  test: 'somebody tries the receivers',
} as const
