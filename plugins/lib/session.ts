export type { Claims, OpenClaim } from './session/claims.ts'
export { type Cluster, changedIn, type InstanceFact, instanceFactKind } from './session/cluster.ts'
export {
  addSinceFlag,
  type Flag,
  type FlagColumns,
  flagColumns,
  flagOf,
  isCounting,
  isRefusing,
  noteFlag,
} from './session/flag.ts'
export { DEFAULT_PROJECT, newSessionRow, type SessionStart } from './session/new-row.ts'
export { requestsIn } from './session/requests.ts'
export { isSessionName, namedSession, onlySession } from './session/session-id.ts'
export type { Sessions } from './session/sessions.ts'
