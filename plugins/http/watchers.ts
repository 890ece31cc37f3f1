import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance, RouteOptions } from 'fastify'
import type { HttpFace } from './face.ts'
import { guardedPaths } from './models/guarded-paths.ts'

/** The framework's hooks that a request meets which is taken out of its hands. */
const met = ['onRequest', 'onRequestAbort', 'onTimeout', 'onResponse'] as const
const names: ReadonlySet<string> = new Set(met)

/** Notes whether a plugin hooks into the requests of models: into all of the scope that it is given, or into those of a route. */
export const noteWatchers = (face: HttpFace, scope: FastifyInstance): void => {
  const guarded: (readonly [route: RouteOptions, hooks: readonly unknown[]])[] = []
  scope.addHook('onRoute', (route) => {
    if (guardedPaths(face).has(route.url)) guarded.push([route, hooksOf(route)])
  })
  scope.addHook('onReady', async () => {
    // until now they could be added to
    face.isWatched ||= guarded.some(([route, hooks]) => !isDeepStrictEqual(hooksOf(route), hooks))
  })
  const addHook: (...args: never[]) => FastifyInstance = scope.addHook
  scope.addHook = function (this: FastifyInstance, ...args: never[]) {
    if (this === scope && names.has(args[0] ?? '')) face.isWatched = true
    return addHook.apply(this, args)
  }
}

const hooksOf = (route: RouteOptions): readonly unknown[] => met.flatMap((name) => route[name] ?? [])
