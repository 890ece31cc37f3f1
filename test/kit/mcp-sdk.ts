import * as v2 from '@modelcontextprotocol/client'
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'

/** How an official client gets to its server. */
export type SdkWay =
  | { readonly url: string; readonly key?: string }
  | {
      readonly command: string
      readonly args: readonly string[]
      readonly cwd: string
      readonly env?: Readonly<Record<string, string>>
    }

/** The official clients: major version 1, and 2 with and without a look at what the server speaks. */
export const sdkClients = ['v1', 'v2', 'v2 auto'] as const
export type SdkName = (typeof sdkClients)[number]

/** The part of a result that tests look at. */
export interface SdkResult {
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  readonly structuredContent?: Readonly<Record<string, unknown>>
  readonly isError?: boolean
}

export interface SdkOptions {
  readonly signal?: AbortSignal
  readonly onprogress?: () => void
}

/** An official client at work. Asked for a completion it says `sampled`, asked for input it accepts with `username: ann`. */
export interface SdkClient {
  /** Names of all tools, page by page. */
  list(): Promise<readonly string[]>
  call(name: string, args?: Record<string, unknown>, options?: SdkOptions): Promise<SdkResult>
  /** The progress that arrived; what comes in one piece with the answer no client reports to `onprogress`. */
  readonly progress: readonly number[]
  /** Ends the session as the client's transport does. */
  close(): Promise<void>
}

const about = { name: 'sdk', version: '1' }
const capabilities = { sampling: {}, elicitation: {} }
const sampled = {
  model: 'none',
  role: 'assistant' as const,
  content: { type: 'text' as const, text: 'sampled' },
}
const accepted = { action: 'accept' as const, content: { username: 'ann', email: 'ann@example.com' } }

const headers = (key: string | undefined) =>
  key === undefined ? {} : { requestInit: { headers: { authorization: `Bearer ${key}` } } }

/** Commands that are started use the compiled code of those before. */
const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env

const stdioOf = ({ command, args, cwd, env = {} }: Extract<SdkWay, { command: string }>) => ({
  command,
  args: [...args],
  cwd,
  env: { PATH, NODE_COMPILE_CACHE, HOME: cwd, ...env },
  stderr: 'ignore' as const,
})

export const sdkClient = (name: SdkName, way: SdkWay): Promise<SdkClient> =>
  name === 'v1' ? clientV1(way) : clientV2(way, name === 'v2 auto')

/** Notes the progress of all messages that come in over a connected transport. */
const progressOf = (transport: { onmessage?: unknown } | undefined): readonly number[] => {
  const progress: number[] = []
  if (transport === undefined) return progress
  const next = transport.onmessage as (message: unknown, ...more: readonly unknown[]) => void
  transport.onmessage = (message: { method?: string; params?: { progress?: number } }, ...more: readonly unknown[]) => {
    if (message.method === 'notifications/progress') progress.push(Number(message.params?.progress))
    next.call(transport, message, ...more)
  }
  return progress
}

const clientV1 = async (way: SdkWay): Promise<SdkClient> => {
  const client = new ClientV1(about, { capabilities })
  client.setRequestHandler(CreateMessageRequestSchema, () => sampled)
  client.setRequestHandler(ElicitRequestSchema, () => accepted)
  const http = 'url' in way ? new HttpV1(new URL(way.url), headers(way.key)) : undefined
  const stdio = 'url' in way ? undefined : new StdioV1(stdioOf(way))
  await client.connect((http ?? stdio) as Parameters<typeof client.connect>[0])
  return {
    progress: progressOf(http ?? stdio),
    list: () => everyPage((cursor) => client.listTools(cursor)),
    call: async (tool, args = {}, options = {}) =>
      (await client.callTool({ name: tool, arguments: args }, undefined, options)) as SdkResult,
    close: async () => {
      await http?.terminateSession()
      await client.close()
    },
  }
}

const clientV2 = async (way: SdkWay, auto: boolean): Promise<SdkClient> => {
  const client = new v2.Client(about, {
    capabilities,
    ...(auto ? { versionNegotiation: { mode: 'auto' as const } } : {}),
  })
  client.setRequestHandler('sampling/createMessage', () => sampled)
  client.setRequestHandler('elicitation/create', () => accepted)
  const http = 'url' in way ? new v2.StreamableHTTPClientTransport(new URL(way.url), headers(way.key)) : undefined
  const stdio = 'url' in way ? undefined : new StdioV2(stdioOf(way))
  await client.connect((http ?? stdio) as v2.Transport)
  return {
    progress: progressOf(http ?? stdio),
    list: () => everyPage((cursor) => client.listTools(cursor)),
    call: async (tool, args = {}, options = {}) =>
      (await client.callTool({ name: tool, arguments: args }, options)) as SdkResult,
    close: async () => {
      await http?.terminateSession()
      await client.close()
    },
  }
}

interface Page {
  readonly tools: readonly { readonly name: string }[]
  readonly nextCursor?: string | undefined
}

const everyPage = async (page: (params: { cursor?: string }) => Promise<Page>): Promise<readonly string[]> => {
  const names: string[] = []
  let cursor: string | undefined
  do {
    const { tools, nextCursor } = await page(cursor === undefined ? {} : { cursor })
    names.push(...tools.map(({ name }) => name))
    cursor = nextCursor
  } while (cursor !== undefined)
  return names
}
