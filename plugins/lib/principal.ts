export { actorOf, currentPrincipal, everyProject, runAs, sees, visibleProjects } from './principal/current.ts'
export { type Principal, type PrincipalKind, requestPrincipals, thisMachine } from './principal/principal.ts'
export { type PrincipalSource, principalSourceKind } from './principal/principal-source.ts'
export { expandScopes, hasScope, isScope, programScopes, type Scope, scopes } from './principal/scopes.ts'
