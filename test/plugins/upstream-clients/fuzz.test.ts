import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { net } from 'guard-gateway/plugins/upstream-clients/net'
import { nodeHttp } from 'guard-gateway/plugins/upstream-clients/node-http'
import { rawServer } from '../../kit/raw-server.ts'
import { connectTo, type Heard, hear } from '../../kit/upstream-client.ts'
import { hearPieces, withoutCode } from './hear-pieces.ts'
import { answersOf } from './odd-answers.ts'

const CASES = 400

/** What the thin client refuses although Node's own reads it; a word of explanation each. */
const stricter: readonly (readonly [why: string, form: RegExp])[] = [
  ['a version that is none of HTTP/1', /^HTTP\/(?!1\.[01])/m],
  ['an empty line before the head', /^\r?\n/],
  ['a control byte in the phrase', /^HTTP\/1\.[01] \d{3} [^\r]*[\x00-\x08\x0b-\x1f\x7f]/m],
  ['a transfer coding other than one chunked', /transfer-encoding:(?! *chunked *\r\n(?![\s\S]*transfer-encoding:))/i],
  ['an extension without a name or value', /[0-9a-f];(?:[^\r\n"]*;)?(?:[;=\r]|[^\r\n"]*[;=][;\r])/i],
]

describe('odd answers', () => {
  it('are read by the thin client as by the client of Node, or refused', async () => {
    await using server = await rawServer()
    for (const [index, bytes] of answersOf(7, CASES).entries()) {
      const [thin, nodes] = [await heardBy(net, server, bytes), await heardBy(nodeHttp, server, bytes)]
      const told = `case ${index}: ${JSON.stringify(bytes)}\nthin ${JSON.stringify(thin)}\nnode ${JSON.stringify(nodes)}`
      if (thin.ended === 'whole') assert.deepEqual(thin, nodes, told)
      else if (nodes.ended === 'whole')
        assert.ok(
          stricter.some(([, form]) => form.test(bytes)),
          told,
        )
    }
  })
  it('are read the same however they are cut into pieces', () => {
    for (const bytes of answersOf(11, 2_000)) {
      const [single, whole] = [hearPieces([...bytes], 'POST'), hearPieces([bytes], 'POST')]
      assert.deepEqual(withoutCode(single), withoutCode(whole), JSON.stringify(bytes))
    }
  })
})

const heardBy = async (
  client: typeof net | typeof nodeHttp,
  server: Awaited<ReturnType<typeof rawServer>>,
  bytes: string,
): Promise<Heard> => {
  const connections = connectTo(client, server.port)
  server.script((socket) => socket.end(bytes, 'latin1'))
  const heard = await hear(connections)
  connections.close()
  return heard
}
