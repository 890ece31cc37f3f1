import express from 'express'
import { createGateway, loadConfig } from 'guard-gateway'
import { asRequestHandler } from 'guard-gateway/plugins/http'

const { config } = await loadConfig('guard-config.yml', process.env)
const guard = await asRequestHandler(await createGateway(config), { log: process.stderr })

const app = express()
// The gateway reads bodies itself, so it goes before their parsers. Requests to other paths go on to what follows.
app.use(guard.handle)
app.use(express.json())
app.get('/greeting', (_request, response) => void response.send('hello'))

const server = app.listen(config.server.port, config.server.host, () => console.log('listening', server.address()))
server.on('upgrade', guard.upgrade)
process.once('SIGTERM', () => void guard.close().then(() => server.close()))
