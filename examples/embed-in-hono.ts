import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { createGateway, loadConfig } from 'guard-gateway'
import { asRequestHandler } from 'guard-gateway/plugins/http'
import { Hono } from 'hono'

const { config } = await loadConfig('guard-config.yml', process.env)
const guard = await asRequestHandler(await createGateway(config), { log: process.stderr })

const app = new Hono()
app.get('/greeting', (context) => context.text('hello'))

// Requests to other paths than the gateway's go on to the application.
const serveApp = getRequestListener(app.fetch)
const server = createServer((request, response) =>
  guard.handle(request, response, () => void serveApp(request, response)),
)
server.on('upgrade', guard.upgrade)
server.listen(config.server.port, config.server.host, () => console.log('listening', server.address()))
process.once('SIGTERM', () => void guard.close().then(() => server.close()))
