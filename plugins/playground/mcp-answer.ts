import { jsonObjectOf } from 'guard-gateway/lib/json'

/** An answer of the proxy, as far as a scenario examines it. */
export type McpAnswer = Readonly<Record<string, unknown>>

/** The members of a JSON-RPC message. */
export const shapeOfAnswer = (json: string): McpAnswer => jsonObjectOf(JSON.parse(json))

/** What a client reads: the texts of a result, the names of listed tools, or the message of an error. */
export const textIn = ({ result, error }: McpAnswer): string => {
  if (error !== undefined) return String(jsonObjectOf(error).message)
  const { content, tools } = jsonObjectOf(result)
  if (Array.isArray(tools)) return tools.map((tool) => String(jsonObjectOf(tool).name)).join('\n')
  return Array.isArray(content) ? content.map((piece) => String(jsonObjectOf(piece).text)).join('\n') : ''
}

/** How the exchange ended for the client. */
export const outcomeIn = ({ result, error }: McpAnswer): string => {
  if (error !== undefined) return 'rpc_error'
  return jsonObjectOf(result).isError === true ? 'tool_error' : 'ok'
}

/** Id of the approval that the answer waits for; null if there is none. */
export const approvalIn = ({ result }: McpAnswer): string | null => {
  const { approval_id } = jsonObjectOf(jsonObjectOf(result).structuredContent)
  return typeof approval_id === 'string' ? approval_id : null
}
