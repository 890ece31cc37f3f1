import assert from 'node:assert/strict'
import { type McpClient, type McpService, resultOf } from '../../../kit/mcp.ts'

export const POLICY = `version: 1
default: allow
rules:
  - { id: no-delete, tools: [delete_file], action: deny }
  - { id: ask-before-writing, tools: [write_file], action: confirm, message: Writes to the disk. }
`

const accept = { accept: 'text/html' }

export const get = (service: McpService, path = '/mcp') => fetch(service.gateway.url + path, { headers: accept })

export const page = async (service: McpService, path = '/mcp'): Promise<string> => {
  const answer = await get(service, path)
  assert.equal(answer.status, 200, path)
  return answer.text()
}

export const send = (service: McpService, path: string, fields: Readonly<Record<string, string>>) =>
  fetch(service.gateway.url + path, {
    method: 'POST',
    body: new URLSearchParams(fields),
    headers: accept,
    redirect: 'manual',
  })

/** Asks for a call that needs consent, and gives the id of the question. */
export const asking = async (client: McpClient, args: object): Promise<string> => {
  const { structuredContent } = resultOf(await client.call('write_file', args))
  return String((structuredContent as { readonly approval_id: unknown }).approval_id)
}

/** Answers a question as its form does, which names what it shows. */
export const answer = async (service: McpService, id: string, fields: Readonly<Record<string, string>>) => {
  const asked = await fetch(`${service.gateway.url}/api/v1/mcp/approvals/${id}`)
  const { tool, argument_hash } = (await asked.json()) as { readonly tool: string; readonly argument_hash: string }
  return send(service, `/ui/approvals/${id}`, { tool, argument_hash, ...fields })
}
