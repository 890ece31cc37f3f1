import { createServer } from 'node:http'
import { createGateway, loadConfig } from 'guard-gateway'
import { asRequestHandler } from 'guard-gateway/plugins/http'

const { config } = await loadConfig('guard-config.yml', process.env)
const guard = await asRequestHandler(await createGateway(config), { log: process.stderr })

const server = createServer((request, response) => {
  if (request.url === '/greeting') response.end('hello')
  else guard.handle(request, response)
})
server.on('upgrade', guard.upgrade)
server.listen(config.server.port, config.server.host, () => console.log('listening', server.address()))
process.once('SIGTERM', () => void guard.close().then(() => server.close()))
