import type { Detector } from 'guard-gateway/core'
import { catalogue, isKnownCode } from 'guard-gateway/core'

/** What whoever was blocked by a detector can do: wait, where what is used up comes back, else as the catalogue has it of its code, or what is true of its kind. */
export const wayOut = ({ code, kind }: Pick<Detector, 'code' | 'kind'>, comesBack = false): string => {
  if (comesBack) return 'Wait until then, or raise the threshold of the rule.'
  return isKnownCode(code) ? catalogue[code][3] : byKind[kind]
}

const byKind: Readonly<Record<Detector['kind'], string>> = {
  loop: 'Send a new instruction, or resume the session.',
  outcome: 'Resume the session when its cause is gone.',
  budget: 'Raise the threshold of the rule, or begin a new session.',
}
