import { type SdkClient, sdkClient } from '../../../kit/mcp-sdk.ts'
import { type Service, startService } from '../../../kit/service.ts'

const at = (ms: number): string => String(1_782_000_000_000_000_000n + BigInt(ms) * 1_000_000n)
const usage = (input: number, output: number, cost: number, cached = 0) => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.model': 'm-1',
  'gen_ai.usage.input_tokens': input,
  'gen_ai.usage.output_tokens': output,
  'gen_ai.usage.cache_read.input_tokens': cached,
  'guard.cost_micro': cost,
})
const tool = (id: string, name: string, from: number, more: object = {}) => ({
  id,
  name: 'tool.call',
  start_ns: at(from),
  end_ns: at(from + 50),
  attributes: { 'gen_ai.tool.name': name },
  ...more,
})

/** Two runs of one task: one that went well, and one that failed in its second tool. */
export const traces = [
  {
    trace_id: 'good',
    name: 'fix the bug',
    agent_name: 'fixer',
    spans: [
      {
        id: 'm1',
        name: 'chat',
        kind: 'model',
        start_ns: at(0),
        end_ns: at(100),
        attributes: usage(1000, 50, 2_000_000, 400),
      },
      tool('t1', 'read_file', 100),
      tool('t2', 'edit', 200),
    ],
  },
  {
    trace_id: 'bad',
    name: 'fix the bug',
    agent_name: 'fixer',
    status: 'error',
    spans: [
      {
        id: 'm1',
        name: 'chat',
        kind: 'model',
        start_ns: at(1000),
        end_ns: at(1100),
        attributes: usage(3000, 70, 5_000_000),
      },
      tool('t1', 'read_file', 1100),
      tool('t2', 'edit', 1200, { status: 'error', status_message: 'no such file: a.ts' }),
    ],
  },
] as const

/** A gateway with these runs, and an official client at `/mcp/replay`. */
export interface Answered extends AsyncDisposable {
  readonly service: Service
  readonly client: SdkClient
}

export const startAnswered = async (config = ''): Promise<Answered> => {
  const service = await startService({ config })
  for (const trace of traces) {
    const { status, text } = await service.request('POST', '/api/v1/traces', trace)
    if (status !== 201) throw new Error(text)
  }
  const { url, key } = service.gateway
  const client = await sdkClient('v2', { url: `${url}/mcp/replay`, key })
  return {
    service,
    client,
    async [Symbol.asyncDispose]() {
      await client.close()
      await service[Symbol.asyncDispose]()
    },
  }
}

type Members = Readonly<Record<string, unknown>>
interface NamedRun {
  readonly trace_id: string
}

/** Members of answers that tests read; each tool gives some of them. */
export interface ToolAnswer {
  readonly run: NamedRun
  readonly runs: readonly NamedRun[]
  readonly answer: string
  readonly error: string | null
  readonly step: Members
  readonly steps: readonly Members[]
  readonly all_steps: number
  readonly next_after: number | null
  readonly next_cursor: string | null
  readonly complete: boolean
  readonly attributes: Members
  readonly total: { readonly cost_micro: number; readonly cost: string }
  readonly groups: readonly Members[]
  readonly they_part: string | null
  readonly deltas: Members
  readonly rows: readonly { readonly right: { readonly error?: string } | null }[]
  readonly sessions: readonly Members[]
  readonly budgets: readonly Members[]
  readonly note: string | null
}

/** The structured answer of a call. Throws with the text of one that failed. */
export const answerOf = async (
  client: SdkClient,
  name: string,
  args: Record<string, unknown> = {},
): Promise<ToolAnswer> => {
  const { structuredContent, isError, content } = await client.call(name, args)
  if (isError === true) throw new Error(content.map(({ text }) => text).join())
  return structuredContent as unknown as ToolAnswer
}
