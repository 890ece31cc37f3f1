import type { Call, Detector } from 'guard-gateway/core'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import type { Bench } from 'tinybench'
import { body, callOf, fullEvidence, times } from '../kit.ts'
import { findSubjects } from '../quality/subjects.ts'

/** The cost of one rule by body size, with full windows and no match. */
export const register = async (bench: Bench): Promise<void> => {
  const { detectors } = await findSubjects({ detectors: [], presets: ['default'] }, process.cwd())
  for (const kib of [1, 32, 512]) {
    const call = callOf(chatCompletions, body('chat_completions', kib))
    for (const detector of detectors) bench.add(`detectors: ${detector.id}, ${kib} KB`, decision(detector, call))
  }
}

const decision = (detector: Detector, call: Call) => {
  const evidence = fullEvidence(detector, call)
  return times(1000, () => detector.detect(evidence))
}
