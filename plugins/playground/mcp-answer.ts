import { shapeOf } from 'guard-gateway/lib/json'

/** An answer of the proxy, as far as a scenario examines it. */
export type McpAnswer = Readonly<Record<string, unknown>>

/** The members of a JSON-RPC message. */
export const shapeOfAnswer = (json: string): McpAnswer => shapeOf(JSON.parse(json))

/** What a client reads: the texts of a result, the names of listed tools, or the message of an error. */
export const textIn = ({ result, error }: McpAnswer): string => {
  if (error !== undefined) return String(shapeOf(error).message)
  const { content, tools } = shapeOf(result)
  if (Array.isArray(tools)) return tools.map((tool) => String(shapeOf(tool).name)).join('\n')
  return Array.isArray(content) ? content.map((piece) => String(shapeOf(piece).text)).join('\n') : ''
}

/** How the exchange ended for the client. */
export const outcomeIn = ({ result, error }: McpAnswer): string => {
  if (error !== undefined) return 'rpc_error'
  return shapeOf(result).isError === true ? 'tool_error' : 'ok'
}

/** Id of the approval that the answer waits for; null if there is none. */
export const approvalIn = ({ result }: McpAnswer): string | null => {
  const { approval_id } = shapeOf(shapeOf(result).structuredContent)
  return typeof approval_id === 'string' ? approval_id : null
}
