export { type AuditEntry, type AuditLog, auditedIn } from './principal/audit-log.ts'
export {
  actorOf,
  currentPrincipal,
  everyProject,
  mayOperate,
  runAs,
  sees,
  visibleProjects,
} from './principal/current.ts'
export type { KeySource } from './principal/key-source.ts'
export { type Principal, type PrincipalKind, requestPrincipals, thisMachine } from './principal/principal.ts'
export { type PrincipalSource, principalSourceKind } from './principal/principal-source.ts'
export type { Principals } from './principal/principals.ts'
export { expandScopes, hasScope, isScope, programScopes, type Scope, scopes } from './principal/scopes.ts'
