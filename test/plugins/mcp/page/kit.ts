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
