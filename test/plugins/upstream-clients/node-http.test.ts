import { nodeHttp } from 'guard-gateway/plugins/upstream-clients/node-http'
import { upstreamClientConforms } from '../../conformance/upstream-client.ts'

upstreamClientConforms(nodeHttp)
