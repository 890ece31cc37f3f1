import { Readable } from 'node:stream'
import { type Gateway, GuardError } from 'guard-gateway/core'
import { childEnv, envFlagNames, missingEnvText } from 'guard-gateway/lib/child-env'
import type { Input, Io } from 'guard-gateway/lib/command'
import { readJson } from 'guard-gateway/lib/json'
import { outputOf } from 'guard-gateway/lib/terminal'
import { terminalLine } from 'guard-gateway/lib/text'
import { type CommandContext, getText, queryOf, type UseApi } from '../management/command-context.ts'
import { mcpOf } from '../mcp.ts'
import type { McpServerOptions } from '../options.ts'
import { fileContent, textOption } from '../policy/command-files.ts'
import { readDefinitions } from '../policy/listed-tool.ts'
import { serverOf, serversOf } from '../servers/configured-servers.ts'
import { type Draft, draftPolicy } from './draft.ts'
import { draftedTool } from './drafted-tool.ts'
import { listServer } from './list-server.ts'
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
  const given = envFlagNames(options.env)
  const { env } = childEnv(io.env, gateway, { given })
  const absent = missingEnvText(given, io.env)
  if (absent !== '') io.err.write(`${terminalLine(absent)}\n`)
  const server = serverOf(id, { transport: 'stdio', command, args, cwd: io.cwd }, env)
  const said = lastWords()
  try {
    return await listServer(gateway, server, said.add)
  } catch (error) {
    for (const line of said.lines()) io.err.write(`${id}: ${terminalLine(line)}\n`)
    throw error
  }
}

const MAX_SAID = 8_192
const MAX_LINES = 20

/** The end of what a server writes on its standard error, which is of interest where it does not start. */
const lastWords = () => {
  let kept = Buffer.alloc(0)
  return {
    add: (bytes: Buffer): void => {
      kept = Buffer.concat([kept, bytes]).subarray(-MAX_SAID)
    },
    lines: () =>
      kept
        .toString('utf8')
        .split('\n')
        .filter((line) => line.trim() !== '')
        .slice(-MAX_LINES),
  }
}
