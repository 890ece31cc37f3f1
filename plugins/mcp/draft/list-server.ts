import { type Gateway, GuardError } from 'guard-gateway/core'
import { newKey } from 'guard-gateway/lib/ids'
import { isJsonObject, readJson, sourceOf } from 'guard-gateway/lib/json'
import { type Frame, readFrame } from 'guard-gateway/lib/json-rpc'
import { type McpLink, type McpReply, type McpServer, mcpTransportKind } from 'guard-gateway/lib/mcp-transport'
import { cutText, terminalLine } from 'guard-gateway/lib/text'
import { connectionsOf } from '../connections.ts'
import { mcpErrors } from '../error-codes.ts'
import { versions } from '../messages/initialize.ts'
import { type DraftedTool, draftedTool } from './drafted-tool.ts'

const MAX_PAGES = 100
const MAX_TOOLS = 10_000
const FRAME_BYTES = 16_777_216
const WAIT_MS = 60_000

/** Connects to a server, asks it for its tools and leaves: nothing is called, and nothing is stored. Throws UPSTREAM_FAILED where it does not answer. */
export const listServer = async (
  gateway: Gateway,
  server: McpServer,
  stderr: (bytes: Buffer) => void,
): Promise<readonly DraftedTool[]> => {
  const transports = gateway.registry(mcpTransportKind)
  const session = {
    ...{ id: newKey('mcp_'), protocol_version: undefined as string | undefined, merged: false, projects: null },
    ...{ frame_bytes: FRAME_BYTES, stderr },
    connect: connectionsOf(gateway).to.bind(connectionsOf(gateway)),
    open: (transport: string, other: McpServer): Promise<McpLink> => transports.need(transport).open(other, session),
    notice: () => {},
    dropped: () => {},
  }
  const link = await session.open(server.transport, server)
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(failed(server, `it does not answer within ${WAIT_MS / 1000} s`)), WAIT_MS)
  })
  const lost = link.lost.then(({ reason }): never => {
    throw failed(server, reason)
  })
  lost.catch(() => {})
  const noted = (version: string | undefined): void => {
    session.protocol_version = version
  }
  try {
    return await Promise.race([listed(gateway, server, link, noted), late, lost])
  } finally {
    clearTimeout(timer)
    await link.end()
    connectionsOf(gateway).close()
  }
}

const listed = async (
  gateway: Gateway,
  server: McpServer,
  link: McpLink,
  noted: (version: string | undefined) => void,
): Promise<readonly DraftedTool[]> => {
  const clientInfo = { name: 'guard-gateway', version: '1' }
  const started = await ask(server, link, 1, 'initialize', {
    protocolVersion: versions[0],
    capabilities: {},
    clientInfo,
  })
  const version = isJsonObject(started) ? started.protocolVersion : undefined
  noted(typeof version === 'string' ? version : undefined)
  await link.post(frameOf({ jsonrpc: '2.0', method: 'notifications/initialized' }))
  const tools = new Map<string, DraftedTool>()
  for await (const page of toolPages(server, link)) {
    for (const tool of toolsIn(gateway, server, page)) tools.set(tool.name, tool)
    if (tools.size >= MAX_TOOLS) break
  }
  return [...tools.values()]
}

async function* toolPages(server: McpServer, link: McpLink): AsyncGenerator<readonly unknown[]> {
  let cursor: unknown
  for (let page = 0; page < MAX_PAGES; page++) {
    const result = await ask(server, link, page + 2, 'tools/list', cursor === undefined ? {} : { cursor })
    if (!isJsonObject(result) || !Array.isArray(result.tools)) throw failed(server, 'it lists no tools')
    yield result.tools
    cursor = result.nextCursor
    if (typeof cursor !== 'string') return
  }
}

const toolsIn = ({ redact }: Gateway, { id }: McpServer, list: readonly unknown[]): readonly DraftedTool[] =>
  list.flatMap((tool) =>
    isJsonObject(tool) && typeof tool.name === 'string'
      ? [draftedTool(id, tool.name, JSON.stringify(tool), redact)]
      : [],
  )

const ask = async (server: McpServer, link: McpLink, id: number, method: string, params: object): Promise<unknown> => {
  const reply = await link.post(frameOf({ jsonrpc: '2.0', id, method, params }))
  const answer = await responseIn(reply, `${id}`)
  if (answer?.result !== undefined) return JSON.parse(sourceOf(answer.text, answer.result)) as unknown
  const error: unknown = answer?.error === undefined ? undefined : readJson(sourceOf(answer.text, answer.error))
  const said = isJsonObject(error) && typeof error.message === 'string' ? `: ${cutText(error.message, 200)}` : ''
  throw failed(server, reply.form === 'failed' ? reply.message : `it does not answer ${method}${said}`)
}

/** The answer among what a server sends: its own requests are none of ours to answer. */
const responseIn = async (reply: McpReply, id: string): Promise<Frame | undefined> => {
  if (reply.form === 'json') return reply.event.frame
  if (reply.form !== 'sse') return undefined
  try {
    for await (const { frame } of reply.events) if (frame?.kind === 'response' && frame.id === id) return frame
    return undefined
  } finally {
    reply.stop()
  }
}

const frameOf = (message: object): Frame => {
  const frame = readFrame(Buffer.from(JSON.stringify(message)), 'client')
  if (frame.kind === 'fault') throw new TypeError(frame.message)
  return frame
}

const failed = ({ id }: McpServer, why: string): GuardError =>
  new GuardError(mcpErrors.UPSTREAM_FAILED, `The tools of "${id}" cannot be listed: ${terminalLine(why)}.`)
