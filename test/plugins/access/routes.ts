import Fastify from 'fastify'
import { withCommands } from '../../../presets/default/commands.ts'
import { fakeIo } from '../../kit/io.ts'

export interface Route {
  readonly method: string
  readonly url: string
}

/** Every route of the gateway that `guard gateway run` starts. */
export const routesOf = async (): Promise<readonly Route[]> => {
  const found: Route[] = []
  const gateway = await withCommands(fakeIo({}))
  const app = Fastify()
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) found.push({ method: one, url })
  })
  await app.register(async (scope) => gateway.hooks.http.promise(scope))
  await app.ready()
  await app.close()
  return found
}
