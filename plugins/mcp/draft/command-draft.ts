import { Readable } from 'node:stream'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { childEnv, envFlagNames, missingEnvText } from '#lib/child-env'
import type { Input, Io } from '#lib/command'
import { newKey } from '#lib/ids'
import { isJsonObject, readJson, sourceOf } from '#lib/json'
import { type Frame, readFrame } from '#lib/json-rpc'
import { type McpLink, type McpReply, type McpServer, mcpTransportKind } from '#lib/mcp-transport'
import { outputOf } from '#lib/terminal'
import { cutText, terminalLine } from '#lib/text'
import { connectionsOf } from '../connections.ts'
import { mcpErrors } from '../error-codes.ts'
import { type CommandContext, getText, queryOf, type UseApi } from '../management/command-context.ts'
import { mcpOf } from '../mcp.ts'
import { versions } from '../messages/initialize.ts'
import type { McpServerOptions } from '../options.ts'
import { fileContent, textOption } from '../policy/command-files.ts'
import { readDefinitions } from '../policy/listed-tool.ts'
import { serverOf, serversOf } from '../servers/configured-servers.ts'
import { type Draft, draftPolicy } from './draft.ts'
import { type DraftedTool, draftedTool } from './drafted-tool.ts'
import { NOTHING_SEEN } from './seen-calls.ts'

const SERVER_ID = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/

/** Writes a draft: of what is on record, or of a list that a file holds or a server gives when it is started here. */
export const draftCommand = async (gateway: Gateway, asking: UseApi, input: Input, io: Io): Promise<number> => {
  const { options, rest } = input
  const tools = textOption(options, 'tools')
  if (tools !== undefined && rest.length > 0)
    throw new GuardError('USAGE', 'Name a file with --tools, or a command behind "--", not both.')
  // a file that is there already is refused before anything is started
  const write = await outputOf(options, io)
  const isDirect = tools !== undefined || rest.length > 0
  const draft = isDirect
    ? await directDraft(gateway, input, io, tools)
    : await recordedDraft(gateway, asking, input, io)
  if (options.json === true && options.output === undefined) io.out.write(`${JSON.stringify(draft)}\n`)
  else await write(Readable.from([draft.yaml]))
  if (options.quiet !== true) io.err.write(`${summaryOf(draft, textOption(options, 'output'))}\n`)
  return 0
}

const summaryOf = ({ rules, tests, tools }: Draft, output: string | undefined): string =>
  `${output === undefined ? 'drafted' : `wrote ${terminalLine(output)}:`} ${rules} rules about ${tools} tools, ${tests} tests, all passed; in shadow until you say enforce`

/** Of what is on record; a configured server that nobody has used yet is asked for its tools. */
const recordedDraft = async (gateway: Gateway, asking: UseApi, input: Input, io: Io): Promise<Draft> => {
  try {
    return await asking(async (ask) => {
      const context = { ask, input, io, now: gateway.clock.now() } satisfies CommandContext
      const query = queryOf(input, { serverId: 'server_id', since: 'since' })
      return readJson(await getText(context, `/draft${query}`)) as Draft
    })
  } catch (error) {
    const id = textOption(input.options, 'serverId')
    const { servers = {}, env = io.env } = mcpOf(gateway).options
    const [server] =
      id !== undefined && Object.hasOwn(servers, id)
        ? serversOf(gateway, { [id]: servers[id] as McpServerOptions }, env)
        : []
    if (!(error instanceof GuardError) || error.code !== 'MCP_SERVER_NOT_FOUND' || server === undefined) throw error
    const tools = await listServer(gateway, server, () => {})
    return draftPolicy(
      gateway,
      { servers: [{ id: server.id, tools, seen: NOTHING_SEEN }] },
      { env: io.env, own_files: [...gateway.ownFiles] },
    )
  }
}

/** Nothing of it needs a gateway or a record. */
const directDraft = async (gateway: Gateway, input: Input, io: Io, file: string | undefined): Promise<Draft> => {
  const id = textOption(input.options, 'serverId')
  if (id === undefined || !SERVER_ID.test(id))
    throw new GuardError(
      'USAGE',
      'Say what the server is called in rules: --server-id <id>, of letters, digits, dots, _ and -.',
    )
  if (input.options.since !== undefined)
    throw new GuardError('USAGE', '--since is about calls on record; a list of tools has none.')
  const tools = file === undefined ? await started(gateway, id, input, io) : await listedIn(gateway, id, file, io)
  if (tools.length === 0) throw new GuardError('USAGE', `"${id}" lists no tools, so there is nothing to draft.`)
  const source = { servers: [{ id, tools, seen: NOTHING_SEEN }] }
  return draftPolicy(gateway, source, { env: io.env, own_files: [...gateway.ownFiles] })
}

const listedIn = async (gateway: Gateway, id: string, file: string, io: Io) =>
  readDefinitions(await fileContent(file, io), file).map(({ name, json }) =>
    draftedTool(id, name, json, gateway.redact),
  )

/** The server is started as `mcp run` starts it, and ended when it has listed its tools. */
const started = async (gateway: Gateway, id: string, { rest, options }: Input, io: Io) => {
  const [command = '', ...args] = rest
  const inherited = envFlagNames(options.env)
  const { env } = childEnv(io.env, gateway, { given: inherited })
  const absent = missingEnvText(inherited, io.env)
  if (absent !== '') io.err.write(`${terminalLine(absent)}\n`)
  const server = serverOf(id, { transport: 'stdio', command, args, cwd: io.cwd }, env)
  const output = lastWords()
  try {
    return await listServer(gateway, server, output.add)
  } catch (error) {
    for (const line of output.lines()) io.err.write(`${id}: ${terminalLine(line)}\n`)
    throw error
  }
}

const MAX_OUTPUT = 8_192
const MAX_LINES = 20

/** The end of what a server writes on its standard error, which is of interest where it does not start. */
const lastWords = () => {
  let tail = Buffer.alloc(0)
  return {
    add: (bytes: Buffer): void => {
      tail = Buffer.concat([tail, bytes]).subarray(-MAX_OUTPUT)
    },
    lines: () =>
      tail
        .toString('utf8')
        .split('\n')
        .filter((line) => line.trim() !== '')
        .slice(-MAX_LINES),
  }
}

const MAX_PAGES = 100
const MAX_TOOLS = 10_000
const FRAME_BYTES = 16_777_216
const WAIT_MS = 60_000

/** Connects to a server, asks it for its tools and leaves: nothing is called, and nothing is stored. Throws UPSTREAM_FAILED where it does not answer. */
const listServer = async (
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
  const output = isJsonObject(error) && typeof error.message === 'string' ? `: ${cutText(error.message, 200)}` : ''
  throw failed(server, reply.form === 'failed' ? reply.message : `it does not answer ${method}${output}`)
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
