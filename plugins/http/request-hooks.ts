import { isDeepStrictEqual } from 'node:util'
import type { FastifyInstance, RouteOptions } from 'fastify'
import type { HttpServerState } from './http-server-state.ts'

/** The framework's hooks that still run for a hijacked request. */
const hookNames = ['onRequest', 'onRequestAbort', 'onTimeout', 'onResponse'] as const
const names: ReadonlySet<string> = new Set(hookNames)

/** Sets `hasRequestHooks` if a plugin adds hooks to model requests: to its whole scope, or to a single route. */
export const detectRequestHooks = (state: HttpServerState, scope: FastifyInstance): void => {
  const guarded: (readonly [route: RouteOptions, hooks: readonly unknown[]])[] = []
  scope.addHook('onRoute', (route) => {
    if (state.modelPaths.has(route.url)) guarded.push([route, hooksOf(route)])
  })
  scope.addHook('onReady', async () => {
    // until now they could be added to
    state.hasRequestHooks ||= guarded.some(([route, hooks]) => !isDeepStrictEqual(hooksOf(route), hooks))
  })
  const addHook: (...args: never[]) => FastifyInstance = scope.addHook
  scope.addHook = function (this: FastifyInstance, ...args: never[]) {
    if (this === scope && names.has(args[0] ?? '')) state.hasRequestHooks = true
    return addHook.apply(this, args)
  }
}

const hooksOf = (route: RouteOptions): readonly unknown[] => hookNames.flatMap((name) => route[name] ?? [])
