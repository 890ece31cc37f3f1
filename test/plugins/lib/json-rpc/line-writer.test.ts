import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { LineWriter } from '#lib/json-rpc'

describe('a writer of lines', () => {
  const isDone = (work: Promise<void>): Promise<boolean> =>
    Promise.race([work.then(() => true), new Promise<boolean>((resolve) => setImmediate(resolve, false))])

  it('puts each message on one line, whatever is between its parts', () => {
    const out = new PassThrough()
    const lines = new LineWriter(out)
    for (const message of ['{"a":\r\n1}', Buffer.from('{"b":\n"é"}'), Buffer.from('{"c":3}'), '{"d":4}'])
      void lines.write(message)
    assert.equal(String(out.read()), '{"a":  1}\n{"b": "é"}\n{"c":3}\n{"d":4}\n')
  })

  it('waits for room, all at once and with no listener for each', async () => {
    const out = new PassThrough({ highWaterMark: 8 })
    const lines = new LineWriter(out)
    await lines.write('1')
    const waiting = Array.from({ length: 20 }, () => lines.write('12345678'))
    assert.equal(await isDone(lines.room), false)
    assert.ok(['drain', 'close', 'error'].every((event) => out.listenerCount(event) <= 2))
    out.resume()
    await Promise.all([...waiting, lines.room])
  })

  for (const how of [undefined, new Error('write EPIPE')]) {
    it(`is over with its reader, ${how === undefined ? 'quietly' : 'by an error'}: nobody waits, nothing throws`, async () => {
      const out = new PassThrough({ highWaterMark: 1 })
      const lines = new LineWriter(out)
      const waiting = lines.write('{}')
      assert.equal(await isDone(lines.over), false)
      out.destroy(how)
      await Promise.all([waiting, lines.over, lines.write('{}')])
    })
  }
})
