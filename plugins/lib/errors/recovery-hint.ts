import type { Detector } from 'guard-gateway/core'
import { catalogue, isKnownCode } from 'guard-gateway/core'

/** What to do after a block: wait if the budget comes back, else the catalogue's advice for the code, else that for the detector's kind. */
export const recoveryHint = ({ code, kind }: Pick<Detector, 'code' | 'kind'>, comesBack = false): string => {
  if (comesBack) return 'Wait until then, or raise the threshold of the rule.'
  return isKnownCode(code) ? catalogue[code][3] : byKind[kind]
}

const byKind: Readonly<Record<Detector['kind'], string>> = {
  loop: 'Send a new instruction, or resume the session.',
  outcome: 'Resume the session when its cause is gone.',
  budget: 'Raise the threshold of the rule, or begin a new session.',
}
