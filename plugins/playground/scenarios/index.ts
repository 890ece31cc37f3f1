import * as limits from './limits.ts'
import * as loops from './loops.ts'
import * as pauses from './pauses.ts'
import * as streams from './streams.ts'

/** The scenarios that come with the Playground, in the order in which they are listed. */
export const builtInScenarios = [
  loops.calmWork,
  loops.exactLoop,
  loops.toolLoop,
  loops.errorRetry,
  loops.sequenceLoop,
  limits.requestLimit,
  limits.tokenLimit,
  loops.recovery,
  loops.disabledRule,
  loops.flagOnly,
  pauses.pausedSession,
  pauses.pausedAgent,
  loops.threeStyles,
  streams.streaming,
  streams.brokenStream,
  streams.upstreamError,
]
