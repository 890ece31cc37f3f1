import Fastify from 'fastify'
import { createGateway, loadConfig } from 'guard-gateway'
import { asFastifyPlugin } from 'guard-gateway/plugins/http'

const { config } = await loadConfig('guard-config.yml', process.env)

const app = Fastify()
app.get('/greeting', async () => 'hello')
// The gateway keeps its own routes, error responses and body parsing. It closes together with the application.
await app.register(asFastifyPlugin(await createGateway(config), { log: process.stderr }))

console.log(await app.listen({ port: config.server.port, host: config.server.host }))
process.once('SIGTERM', () => void app.close())
