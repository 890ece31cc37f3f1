import type { Attributes, ModelResponse, ModelUsage, ToolCall } from './api.ts'

const COUNTS: Readonly<Record<keyof ModelUsage, string>> = {
  input_tokens: 'gen_ai.usage.input_tokens',
  cached_input_tokens: 'gen_ai.usage.cache_read.input_tokens',
  cache_write_input_tokens: 'gen_ai.usage.cache_creation.input_tokens',
  cache_write_1h_input_tokens: 'guard.usage.cache_creation_1h.input_tokens',
  output_tokens: 'gen_ai.usage.output_tokens',
  reasoning_tokens: 'gen_ai.usage.reasoning.output_tokens',
}

export interface UsageTaken {
  readonly attributes: Attributes
  /** The omitted counts, and the reason. */
  readonly wrong?: string
}

/** Attributes of the counts that are known. Null and undefined are unknown; a count that is none is left out. */
export const usageAttributes = (usage: ModelUsage): UsageTaken => {
  const attributes: Record<string, number> = {}
  const odd: string[] = []
  for (const [name, attribute] of Object.entries(COUNTS)) {
    const count: unknown = usage?.[name as keyof ModelUsage]
    if (count === undefined || count === null) continue
    if (typeof count === 'number' && Number.isSafeInteger(count) && count >= 0) attributes[attribute] = count
    else odd.push(name)
  }
  return odd.length === 0
    ? { attributes }
    : { attributes, wrong: `Usage was left out, which must be integers from 0: ${odd.join(', ')}.` }
}

/** Attributes of what a model said of itself. */
export const responseAttributes = ({ model, id, finishReason, serviceTier }: ModelResponse): Attributes =>
  defined({
    'gen_ai.response.model': model,
    'gen_ai.response.id': id,
    'gen_ai.response.finish_reasons': finishReason === undefined ? undefined : [finishReason],
    'gen_ai.response.service_tier': serviceTier,
  })

/** Attributes of a tool call. `args` is undefined where arguments are not recorded. */
export const toolAttributes = (tool: string | ToolCall, args: unknown): Attributes => {
  const { name, callId } = typeof tool === 'string' ? { name: tool } : tool
  return defined({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': name,
    'gen_ai.tool.call.id': callId,
    'gen_ai.tool.call.arguments': args,
  })
}

/** Attributes without those that are not known. */
export const defined = (attributes: Attributes): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined && value !== null))
