import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { apiStyle, Gateway, storage } from 'guard-gateway/core'
import { commandKind } from '#lib/command'
import { exportFormat } from '#lib/export-format'
import { type McpCheck, mcpCheck } from '#lib/mcp-check'
import { mcpTransport } from '#lib/mcp-transport'
import { formKind, pageKind, panelKind } from '#lib/page'
import { upstreamClient } from '#lib/upstream-client'

/** As JavaScript gives it, which no compiler has looked at. */
const odd = <T>(value: unknown): T => value as T
const nothing = () => undefined
const style = {
  id: 'mine',
  paths: ['/v2/chat'],
  list: 'm',
  envelope: nothing,
  parts: nothing,
  meter: nothing,
  refusal: nothing,
}

const wrong: readonly (readonly [work: () => unknown, message: RegExp])[] = [
  [() => apiStyle(odd(undefined)), /^The API style is undefined; it is an object\.$/],
  [() => apiStyle(odd({ ...style, id: '' })), /^The id of the API style is empty/],
  [() => apiStyle(odd({ ...style, parts: undefined })), /^"parts" of API style "mine" is undefined; it is a function/],
  [
    () => apiStyle(odd({ ...style, parts: async () => [] })),
    /^"parts" of API style "mine" is async; it is a function that answers at once/,
  ],
  [
    () => apiStyle(odd({ ...style, paths: '/v2/chat' })),
    /^"paths" of API style "mine" is of type string; it is a list/,
  ],
  [
    () => apiStyle(odd({ ...style, paths: ['v2/chat'] })),
    /^A path of API style "mine" is "v2\/chat"; it begins with "\/"/,
  ],
  [() => apiStyle(odd({ ...style, nudge: 'stop' })), /^"nudge" of API style "mine" is of type string/],
  [() => exportFormat(odd({ id: 'csv' })), /^"mediaType" of export format "csv" is undefined; it is a text/],
  [
    () => mcpCheck(odd<McpCheck>({ id: 'size', schema: 'x' })),
    /^"schema" of MCP check "size" is of type string; it is an object/,
  ],
  [
    () => mcpTransport(odd({ id: 'tcp', open: {} })),
    /^"open" of MCP transport "tcp" is of type object; it is a function/,
  ],
  [() => storage(odd({ open: nothing })), /^The id of the storage backend is undefined/],
  [() => upstreamClient(odd({ id: 'x', connect: async () => {} })), /^"connect" of upstream client "x" is async/],
  [() => new Gateway().registry(commandKind).add(odd({ id: 'x', summary: 'y' })), /^"run" of command "x" is undefined/],
  [
    () => new Gateway().registry(pageKind).add(odd({ id: 'x', path: '/x', render: null })),
    /^"render" of page "x" is null/,
  ],
  [
    () => new Gateway().registry(formKind).add(odd({ id: 'x', path: '/ui/x', page: '/x' })),
    /^"notices" of form "x" is undefined/,
  ],
  [
    () => new Gateway().registry(panelKind).add(odd({ id: 'x', render: nothing })),
    /^"order" of panel "x" is undefined; it is a number/,
  ],
  [
    () => new Gateway().tables.add(odd({ id: 'x', columns: [] })) ?? new Gateway().tables.add(odd({ id: 'x' })),
    /^"columns" of table "x" is undefined/,
  ],
  [() => new Gateway().detectors.add(odd({ id: 'x' })), /^"detect" of detector "x" is undefined/],
]

describe('what is registered', () => {
  for (const [work, message] of wrong)
    it(`is refused where it is none: ${message.source}`, () => {
      assert.throws(work, (error: Error) => error instanceof TypeError && message.test(error.message))
    })
})
