import { terminalLine } from 'guard-gateway/lib/text'

const MAX_CHARS = 2_048

/** The endpoint is not the server's own. */
export class OtherServer extends Error {}

/** Where a server of HTTP+SSE takes messages, by its event `endpoint`: the path of an address of its own. Throws OtherServer for any other. */
export const endpointPath = (named: string, target: URL): string => {
  const url = named.length > MAX_CHARS ? null : URL.parse(named, target.href)
  if (url !== null && url.origin === target.origin && url.username === '' && url.password === '')
    return url.pathname + url.search
  const shown = JSON.stringify(terminalLine(named.slice(0, 200)))
  throw new OtherServer(
    `The MCP server wants messages at ${shown}, which is not at ${target.origin}. Nothing is sent to other servers.`,
  )
}
