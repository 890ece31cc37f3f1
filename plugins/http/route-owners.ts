import type { FastifyInstance } from 'fastify'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { ownPluginKind } from 'guard-gateway/lib/plugin-options'

/** A tap of the hook `http`, which is a plugin. */
interface Declarer {
  readonly name: string
}

/** The methods of all routes that plugins have declared so far, each with its path, and the plugin that has. */
type Owners = Map<string, Declarer>

/**
 * Lets every plugin declare its routes in this scope.
 * Throws DUPLICATE with names and files of two plugins that declare the same one: the framework knows neither.
 */
export const declareRoutes = async (gateway: Gateway, scope: FastifyInstance): Promise<void> => {
  const owners: Owners = new Map()
  const { http } = gateway.hooks
  let plugin: Declarer = { name: '' }
  http.intercept({
    tap: (tap) => {
      plugin = tap
      gateway.registering = `plugin ${told(gateway, tap)}`
    },
  })
  scope.addHook('onRoute', ({ method, url, constraints }) => {
    if (constraints !== undefined) return
    for (const one of [method].flat()) claim(gateway, owners, `${one} ${url}`, plugin)
  })
  const { registering } = gateway
  await http.promise(scope)
  gateway.registering = registering
}

const claim = (gateway: Gateway, owners: Owners, route: string, plugin: Declarer): void => {
  const owner = owners.get(route)
  // of its own routes a plugin is shown by the framework, with the line
  if (owner === undefined || owner === plugin) owners.set(route, plugin)
  else
    throw new GuardError(
      'DUPLICATE',
      `The plugins ${told(gateway, owner)} and ${told(gateway, plugin)} both declare the route ${route}. Give the one of your own another path.`,
    )
}

/** A plugin of the user's with its file. */
const told = (gateway: Gateway, { name }: Declarer): string => {
  const file = gateway.registry(ownPluginKind).get(name)?.file
  return file === undefined ? `"${name}"` : `"${name}" (${file})`
}
