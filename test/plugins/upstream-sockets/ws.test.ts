import { ws } from 'guard-gateway/plugins/upstream-sockets/ws'
import { upstreamSocketConforms } from '../../conformance/upstream-socket.ts'

upstreamSocketConforms(ws)
