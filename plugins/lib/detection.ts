export { keepMarks, letterCounts, lettersIn, lettersOf, textMark } from './detection/letters.ts'
export { type LineCount, linesOf, noteLines, withoutVolatile } from './detection/lines.ts'
export {
  namesTool,
  periodOf,
  reachOf,
  requestPlaces,
  sameCalls,
  sameResults,
  toldTool,
  turnPlaces,
  turnsOfReply,
  turnsSinceUser,
} from './detection/locations.ts'
export { RecentHashes } from './detection/recent-hashes.ts'
export { bringsUserMessage, isFreshStart, isPassedOver, isSameSubagent, repeatsOfOne } from './detection/repeats.ts'
export { type FreshTurn, rememberTurns, type TurnNotes } from './detection/turn-memory.ts'
