/** A longer result is more than a report of progress. */
const CHARS = 2048

const pendingPhrases =
  'running|pending|queued|in[ _-]?progress|starting|waiting|building|processing|scheduled|provisioning|deploying|not[ _-]?started|not[ _-]?ready|incomplete'

const pending = new RegExp(
  `(?:state|status|phase|conclusion)[\\\\"'>\\t-\\r :=]{1,8}(?:${pendingPhrases})\\b|\\b(?:still running|still in progress|not (?:yet )?(?:finished|completed|ready)|Process running with session ID)\\b`,
  'i',
)

/** Whether a result says that something is still running: a repeated call is then waiting, not a loop. */
export const isPending = (text: string): boolean => text.length <= CHARS && pending.test(text)
