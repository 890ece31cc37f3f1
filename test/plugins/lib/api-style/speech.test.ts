import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { messages } from '../../../../plugins/api-styles/messages.ts'

const said = (text: string): string => {
  const pieces: string[] = []
  const listener = { text: (piece: string) => void pieces.push(piece), gap: () => void pieces.push('|') }
  const failed = () => assert.fail()
  const { meter } = messages.listen({
    meter: messages.meter({ status: 200, stream: false }),
    stream: false,
    listener,
    fault: failed,
  })
  for (const byte of Buffer.from(text)) meter.push(Buffer.of(byte))
  meter.end()
  return pieces.join('')
}

describe('listenBy: a whole reply', () => {
  const reply = '{"content":[{"type":"text","text":"Done."}]}'
  it('is heard at its end', () => assert.match(said(reply), /Done\./))
  it('is heard after a byte order mark', () => assert.equal(said(`\ufeff${reply}`), said(reply)))
  it('says nothing where it is no JSON', () => assert.equal(said('<html>'), said('{}')))
})
