import { AsyncLocalStorage } from 'node:async_hooks'
import { type Principal, thisMachine } from './principal.ts'
import { hasScope } from './scopes.ts'

interface Running {
  readonly principal: Principal
  readonly projects: readonly string[] | null
}

/** Entered for requests beyond loopback alone, so elsewhere it costs nothing. */
const running = new AsyncLocalStorage<Running>()

/**
 * Does work in the name of a principal: `currentPrincipal` tells who it is, and reads of the storage see their projects alone.
 * `writing`: reads see everything, since what is written may meet anything; the work checks itself what it may write.
 */
export const runAs = <T>(principal: Principal, work: () => T, writing = false): T =>
  running.run({ principal, projects: writing ? null : principal.projects }, work)

/** In whose name this code runs; undefined: of nobody in particular, on loopback or by itself. */
export const currentPrincipal = (): Principal | undefined => running.getStore()?.principal

/** The same, where something must be said: whoever is on this machine. */
export const actorOf = (): Principal => currentPrincipal() ?? thisMachine

/** Whoever is behind a request beyond loopback showed a key, or logged in with one, that lets continue what is held back. */
export const mayOperate = (): boolean => {
  const principal = currentPrincipal()
  return principal !== undefined && hasScope(principal, 'operate')
}

/** The projects that whoever asks may see; null: all. */
export const visibleProjects = (): readonly string[] | null => running.getStore()?.projects ?? null

/** Whether whoever asks may see what belongs to a project; what belongs to none is for those who see all. */
export const sees = (project_id: string | null | undefined): boolean => {
  const projects = visibleProjects()
  return projects === null || (project_id !== null && project_id !== undefined && projects.includes(project_id))
}

/** Does work that serves everybody, such as filling a cache, whoever began it: its reads see all projects. */
export const everyProject = <T>(work: () => T): T => {
  const known = running.getStore()
  return known?.projects ? running.run({ ...known, projects: null }, work) : work()
}
