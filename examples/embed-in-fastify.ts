import Fastify from 'fastify'
import { createGateway, loadConfig } from 'guard-gateway'
import { asFastifyPlugin } from 'guard-gateway/plugins/http'

const { config } = await loadConfig('guard-config.yml', process.env)

const app = Fastify()
app.get('/greeting', async () => 'hello')
// routes, errors and bodies of the gateway stay its own; it is closed with the application
await app.register(asFastifyPlugin(await createGateway(config)))

console.log(await app.listen({ port: config.server.port }))
