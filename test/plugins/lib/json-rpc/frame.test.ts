import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorFrame, type Frame, readFrame, resultFrame } from '#lib/json-rpc'

const bytes = (text: string): Buffer => Buffer.from(text)
const frame = (text: string, from: 'client' | 'server' = 'client'): Frame => {
  const read = readFrame(bytes(text), from)
  assert.ok(read.kind !== 'fault', JSON.stringify(read))
  return read
}
const fault = (given: string | Buffer, from: 'client' | 'server' = 'client') => {
  const read = readFrame(typeof given === 'string' ? bytes(given) : given, from)
  assert.equal(read.kind, 'fault', JSON.stringify(given))
  return read.kind === 'fault' ? read : assert.fail()
}

describe('readFrame', () => {
  it('tells the three kinds of messages apart', () => {
    assert.equal(frame('{"jsonrpc":"2.0","id":1,"method":"ping"}').kind, 'request')
    assert.equal(frame('{"jsonrpc":"2.0","method":"notifications/initialized"}').kind, 'notification')
    assert.equal(frame('{"jsonrpc":"2.0","id":"x","result":{}}').kind, 'response')
    assert.equal(frame('{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"m"}}').kind, 'response')
  })

  it('keeps ids by their text, apart by type, beyond what a double holds', () => {
    assert.deepEqual(
      [frame('{"jsonrpc":"2.0","id":12345678901234567891,"method":"ping"}')].map(({ id, key }) => [id, key]),
      [['12345678901234567891', 'n12345678901234567891']],
    )
    assert.equal(frame('{"jsonrpc":"2.0","id":"1","method":"ping"}').key, 's1')
    assert.equal(frame('{"jsonrpc":"2.0","id":"\\u0031","method":"ping"}').key, 's1')
    assert.equal(frame('{"jsonrpc":"2.0","id":-7,"method":"ping"}').id, '-7')
  })

  it('keeps the bytes that came', () => {
    const raw = bytes('{ "jsonrpc":"2.0",\r\n"method":"x/é","params":[1.0,1e2], "vendor":1 }')
    const read = readFrame(raw, 'client')
    assert.ok(read.kind === 'notification')
    assert.equal(read.raw, raw)
    assert.equal(Buffer.compare(Buffer.from(read.text), raw), 0)
  })

  it('refuses with -32700 what is no JSON', () => {
    for (const broken of [
      Buffer.from([0x22, 0xff, 0x22]),
      bytes('\ufeff{}'),
      bytes(''),
      bytes('{'),
      bytes('{"a":1} {}'),
    ])
      assert.deepEqual([fault(broken).code, fault(broken).id], [-32700, undefined])
  })

  for (const [text, message, id] of [
    ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', /Batches/, undefined],
    ['[]', /Batches/, undefined],
    ['7', /one JSON object/, undefined],
    ['{"id":1,"method":"ping"}', /"jsonrpc"/, '1'],
    ['{"jsonrpc":2.0,"id":1,"method":"ping"}', /"jsonrpc"/, '1'],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', /"jsonrpc"/, '1'],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', /"id"/, undefined],
    ['{"jsonrpc":"2.0","id":true,"method":"ping"}', /"id"/, undefined],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', /"id"/, undefined],
    ['{"jsonrpc":"2.0","id":1e3,"method":"ping"}', /"id"/, undefined],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', /"id"/, undefined],
    ['{"jsonrpc":"2.0","id":-0,"method":"ping"}', /"id"/, undefined],
    ['{"jsonrpc":"2.0","method":"tools/call","params":{"name":"a"}}', /tools\/call needs an "id"/, undefined],
    ['{"jsonrpc":"2.0","method":"tools\\/call","params":{"name":"a"}}', /tools\/call needs an "id"/, undefined],
    ['{"jsonrpc":"2.0","id":1,"method":"Tools/Call","params":{}}', /"Tools\/Call" looks like/, '1'],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/ca\\u200bll"}', /looks like/, '1'],
    ['{"jsonrpc":"2.0","id":1,"method":"\u00a0tools/call "}', /looks like/, '1'],
    ['{"jsonrpc":"2.0","id":1,"method":"ｐing"}', /looks like/, '1'],
    ['{"jsonrpc":"2.0","method":"initialize"}', /initialize needs an "id"/, undefined],
    ['{"jsonrpc":"2.0","id":1}', /"method", a "result"/, '1'],
    ['{"jsonrpc":"2.0","id":1,"method":7}', /"method" must be/, '1'],
    ['{"jsonrpc":"2.0","id":1,"result":{},"error":{}}', /exclude/, '1'],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}', /no "result"/, '1'],
    ['{"jsonrpc":"2.0","result":{}}', /needs the "id"/, undefined],
    ['{"jsonrpc":"2.0","id":null,"error":{}}', /"id"/, undefined],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}', /"params" of tools\/call/, '1'],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","params":null}', /"params" of ping/, '1'],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","id":2}', /twice/, undefined],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","m\\u0065thod":"x"}', /"\/method" appears twice/, '1'],
    ['{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":{"b":1,"b":2}}}', /"\/params\/a\/b" appears twice/, '1'],
    ['{"jsonrpc":"2.0","id":1,"Method":"x","method":"ping"}', /"Method" looks like/, '1'],
    ['{"jsonrpc":"2.0","id":1,"method":"ping","ＩＤ":2}', /looks like/, '1'],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","Name":"b"}}', /"Name" looks like/, '1'],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"argument\u017f":{}}}', /looks like/, '1'],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"na\u200bme":"b"}}', /looks like/, '1'],
    ['{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolversion":"x"}}', /looks like/, '1'],
    [
      `{"jsonrpc":"2.0","params":{"a":${'['.repeat(127)}${']'.repeat(127)}},"id":1,"method":"x"}`,
      /deeper than 128/,
      '1',
    ],
  ] as const) {
    it(`refuses with -32600 ${text.slice(0, 90)}`, () => {
      const read = fault(text)
      assert.equal(read.code, -32600)
      assert.match(read.message, message)
      assert.equal(read.id, id)
    })
  }

  it('tells what nobody waits for an answer to', () => {
    assert.equal(fault('{"jsonrpc":"2.0","method":"ping","params":[]}').silent, true)
    assert.equal(fault('{"jsonrpc":"2.0","id":1,"result":{},"error":{}}').silent, true)
    assert.equal(fault('{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}').silent, false)
    assert.equal(fault('{"jsonrpc":"2.0","id":null,"method":"ping"}').silent, false)
    for (const name of ['ID', 'Id', 'i\u200bd'])
      assert.equal(fault(`{"jsonrpc":"2.0","${name}":1,"method":"ping"}`).silent, false, name)
    assert.equal(fault('{').silent, undefined)
  })

  it('takes the nesting that is still allowed', () => {
    frame(`{"jsonrpc":"2.0","params":{"a":${'['.repeat(126)}${']'.repeat(126)}},"id":1,"method":"x"}`)
  })

  it('lets keys of arguments and of vendors look as they like', () => {
    for (const method of ['Vendor/Call', 'tools/call2', 'x-tools/call'])
      frame(`{"jsonrpc":"2.0","id":1,"method":"${method}"}`)
    frame('{"jsonrpc":"2.0","id":1,"method":"Ping"}', 'server')
    frame(
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"Name":1,"name":2}},"x-Id":1}',
    )
  })

  it('judges of a server only what pairs messages, and tells of the rest', () => {
    assert.equal(frame('{"jsonrpc":"2.0","id":1,"result":{"a":1,"a":2}}', 'server').duplicate, '/result/a')
    assert.equal(frame('{"jsonrpc":"2.0","id":1,"result":{}}', 'server').duplicate, undefined)
    assert.match(fault('{"jsonrpc":"2.0","id":1,"id":2,"result":{}}', 'server').message, /Ambiguous/)
    assert.match(fault('{"jsonrpc":"2.0","id":1,"Result":{},"result":{}}', 'server').message, /Ambiguous/)
  })

  it('takes an error of a server that could not place it', () => {
    const read = frame('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}', 'server')
    assert.deepEqual([read.kind, read.key], ['response', undefined])
    assert.equal(frame('{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}', 'server').key, undefined)
    assert.match(fault('{"jsonrpc":"2.0","id":null,"result":{}}', 'server').message, /"id"/)
  })
})

describe('answers of our own', () => {
  it('carry the id as it was written', () => {
    assert.equal(resultFrame('"\\u0031"', '{}'), '{"jsonrpc":"2.0","id":"\\u0031","result":{}}')
    assert.equal(
      errorFrame('12345678901234567891', -32603, 'a "b"', { type: 'mcp_error' }),
      '{"jsonrpc":"2.0","id":12345678901234567891,"error":{"code":-32603,"message":"a \\"b\\"","data":{"type":"mcp_error"}}}',
    )
  })
  it('have no id where that of the request is not known', () => {
    assert.deepEqual(JSON.parse(errorFrame(undefined, -32700, 'm')), {
      jsonrpc: '2.0',
      error: { code: -32700, message: 'm' },
    })
  })
})
