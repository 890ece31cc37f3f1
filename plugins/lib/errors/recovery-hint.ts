import type { Detector } from 'guard-gateway/core'

/** What to do after a block: wait if the budget comes back, else as the detector says, else what helps with its kind. */
export const recoveryHint = ({ help, kind }: Pick<Detector, 'help' | 'kind'>, comesBack = false): string =>
  comesBack ? 'Wait until then, or raise the threshold of the rule.' : (help ?? byKind[kind])

const byKind: Readonly<Record<Detector['kind'], string>> = {
  loop: 'Send a new instruction, or resume the session.',
  outcome: 'Resume the session when its cause is gone.',
  budget: 'Raise the threshold of the rule, or begin a new session.',
}
