import type { FastifyInstance } from 'fastify'
import { type Gateway, GuardError } from 'guard-gateway/core'

/** The methods of all routes that plugins have declared so far, each with its path, and the plugin that has. */
type Owners = Map<string, string>

/**
 * Lets every plugin declare its routes in this scope.
 * Throws DUPLICATE with the names of two plugins that declare the same one: the framework knows neither.
 */
export const declareRoutes = async ({ hooks: { http } }: Gateway, scope: FastifyInstance): Promise<void> => {
  const owners: Owners = new Map()
  let plugin = ''
  http.intercept({
    tap: ({ name }) => {
      plugin = name
    },
  })
  scope.addHook('onRoute', ({ method, url, constraints }) => {
    if (constraints !== undefined) return
    for (const one of [method].flat()) claim(owners, `${one} ${url}`, plugin)
  })
  await http.promise(scope)
}

const claim = (owners: Owners, route: string, plugin: string): void => {
  const owner = owners.get(route)
  // of its own routes a plugin is shown by the framework, with the line
  if (owner === undefined || owner === plugin) owners.set(route, plugin)
  else
    throw new GuardError(
      'DUPLICATE',
      `The plugins "${owner}" and "${plugin}" both declare the route ${route}. Give the one of your own another path.`,
    )
}
