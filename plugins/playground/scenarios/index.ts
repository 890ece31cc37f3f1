import * as enforcing from './actions.ts'
import * as limits from './limits.ts'
import * as loops from './loops.ts'
import * as atWork from './loops-at-work.ts'
import * as inWords from './loops-in-words.ts'
import * as actions from './mcp-actions.ts'
import * as checks from './mcp-checks.ts'
import * as definitions from './mcp-definitions.ts'
import * as pauses from './pauses.ts'
import * as streams from './streams.ts'

/** The scenarios that come with the Playground, in the order in which they are listed. */
export const builtInScenarios = [
  loops.calmWork,
  loops.exactLoop,
  loops.toolLoop,
  loops.toolErrorLoop,
  loops.noProgress,
  atWork.staleLoop,
  atWork.rereadLoop,
  atWork.respawnLoop,
  inWords.textLoop,
  inWords.complaintLoop,
  inWords.rewordedLoop,
  inWords.reasoningLoop,
  loops.errorRetry,
  loops.sequenceLoop,
  limits.requestLimit,
  limits.tokenLimit,
  limits.costLimit,
  loops.recovery,
  loops.disabledRule,
  loops.flagOnly,
  enforcing.steeredLoop,
  enforcing.pausedLoop,
  pauses.pausedSession,
  pauses.pausedAgent,
  loops.threeStyles,
  streams.streaming,
  streams.brokenStream,
  streams.chant,
  streams.upstreamError,
  actions.mcpAllow,
  actions.mcpDeny,
  actions.mcpConfirm,
  actions.mcpConfirmSession,
  actions.mcpConfirmDenied,
  actions.mcpTransform,
  actions.mcpRateLimit,
  actions.mcpShadowDeny,
  definitions.mcpInvalidArguments,
  actions.mcpUnknownTool,
  definitions.mcpChangedTool,
  checks.mcpPath,
  checks.mcpShell,
  checks.mcpHttp,
  checks.mcpSql,
  checks.mcpSize,
]
