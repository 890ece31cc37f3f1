import { AsyncLocalStorage } from 'node:async_hooks'
import { type Principal, thisMachine } from './principal.ts'

/** Entered for requests beyond loopback alone, so elsewhere it costs nothing. */
const current = new AsyncLocalStorage<Principal | undefined>()

/** Does work in the name of a principal: `currentPrincipal` tells who it is, and reads of the storage see their projects alone. */
export const runAs = <T>(principal: Principal, work: () => T): T => current.run(principal, work)

/** In whose name this code runs; undefined: of nobody in particular, on loopback or by itself. */
export const currentPrincipal = (): Principal | undefined => current.getStore()

/** The same, where something must be said: whoever is on this machine. */
export const actorOf = (): Principal => current.getStore() ?? thisMachine

/** The projects that whoever asks may see; null: all. */
export const visibleProjects = (): readonly string[] | null => current.getStore()?.projects ?? null

/** Whether whoever asks may see what belongs to a project; what belongs to none is for those who see all. */
export const sees = (project_id: string | null | undefined): boolean => {
  const projects = visibleProjects()
  return projects === null || (project_id !== null && project_id !== undefined && projects.includes(project_id))
}

/** Does work that serves everybody, such as filling a cache, whoever began it: its reads see all projects. */
export const everyProject = <T>(work: () => T): T =>
  current.getStore()?.projects ? current.run(undefined, work) : work()
