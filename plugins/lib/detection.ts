export { letterCounts, lettersIn, lettersOf, rememberTextHashes, textHash } from './detection/letters.ts'
export { countLines, type LineCount, linesOf, withoutVolatile } from './detection/lines.ts'
export {
  cachedToolMatcher,
  periodOf,
  requestPlaces,
  rowsInWindow,
  sameCalls,
  sameResults,
  shownToolName,
  turnPlaces,
  turnsOfReply,
  turnsSinceUser,
} from './detection/locations.ts'
export {
  budgetParams,
  optionalFlag,
  optionalInteger,
  requestParams,
  ruleParams,
  toolNames,
} from './detection/params.ts'
export { RecentHashes } from './detection/recent-hashes.ts'
export { hasNewUserMessage, isFreshStart, isIgnoredRequest, isSameSubagent, repeatsOfOne } from './detection/repeats.ts'
export { type NewTurn, rememberTurns, type TurnNotes } from './detection/turn-memory.ts'
