import type { Plugin } from 'guard-gateway/core'
import { http } from 'guard-gateway/plugins/mcp-transports/http'
import { undici } from 'guard-gateway/plugins/upstream-clients/undici'

/** What servers of the configuration need that are reached over HTTP. */
export const bundled: readonly Plugin[] = [http, undici]
